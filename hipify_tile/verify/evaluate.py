"""Evaluate an integer or float expression over named values, with the wrap-around of its C types.

Serves launch facts (expressions over launch symbols), ``Emission.assumes`` and tensor shapes. It
does not run kernels: an expression with a load, an index variable or an unknown call has no value
here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hipify_tile.ir import arithmetic
from hipify_tile.ir.expr import (
    Binary,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    Var,
)
from hipify_tile.ir.types import ScalarType

Value = arithmetic.Value


class UnevaluableError(ValueError):
    """The expression has no value under the given names (unknown name, load, division by zero)."""


def wrap(value: Value, dtype: ScalarType) -> Value:
    """Convert ``value`` to ``dtype`` as a C cast does; raises UnevaluableError where undefined."""
    return _defined(arithmetic.convert(value, dtype), f"{value} has no {dtype}")


def _defined(value: Value | None, why: str) -> Value:
    if value is None:
        raise UnevaluableError(why)
    return value


def evaluate(expr: Expr, names: Mapping[str, Value]) -> Value:
    """Return the value of ``expr``; raises UnevaluableError."""
    match expr:
        case Const():
            return expr.value
        case Var():
            if expr.name not in names:
                raise UnevaluableError(f"unknown name {expr.name}")
            return wrap(names[expr.name], expr.type)
        case Cast():
            return wrap(evaluate(expr.operand, names), expr.type)
        case Unary():
            operand = evaluate(expr.operand, names)
            return arithmetic.unary(expr.op, operand, expr.type)
        case Binary():
            a, b = evaluate(expr.lhs, names), evaluate(expr.rhs, names)
            why = f"{a} {expr.op} {b} is undefined"
            return _defined(arithmetic.binary(expr.op, a, b, expr.type), why)
        case Compare():
            return arithmetic.compare(expr.op, evaluate(expr.lhs, names), evaluate(expr.rhs, names))
        case Logical():
            lhs = bool(evaluate(expr.lhs, names))
            if lhs is (expr.op is LogicalOp.OR):
                return lhs
            return bool(evaluate(expr.rhs, names))
        case Select():
            return evaluate(expr.then if evaluate(expr.cond, names) else expr.orelse, names)
        case Call():
            return wrap(_call(expr.name, [evaluate(a, names) for a in expr.args]), expr.type)
        case Index() | Load() | Bitcast():
            raise UnevaluableError(f"{type(expr).__name__} has no value outside a kernel")


def evaluate_int(expr: Expr, names: Mapping[str, Value]) -> int:
    """Return ``expr`` as an integer; raises UnevaluableError for a non-finite float."""
    value = evaluate(expr, names)
    if isinstance(value, float) and not math.isfinite(value):
        raise UnevaluableError("non-finite")
    return int(value)


def _call(name: str, args: list[Value]) -> Value:
    match name, args:
        case "min", [a, b]:
            return min(a, b)
        case "max", [a, b]:
            return max(a, b)
        case "abs" | "fabs", [a]:
            return abs(a)
        case "ceil", [a]:
            return math.ceil(a)
        case "floor", [a]:
            return math.floor(a)
        case "sqrt", [a] if a >= 0:
            return math.sqrt(a)
        case "log2", [a] if a > 0:
            return math.log2(a)
        case _:
            raise UnevaluableError(f"unknown call {name}")
