"""Evaluate an integer or float expression over named values, with the wrap-around of its C types.

Serves launch facts (expressions over launch symbols), ``Emission.assumes`` and tensor shapes. It
does not run kernels: an expression with a load, an index variable or an unknown call has no value
here.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.types import Kind, ScalarType

Value = int | float | bool


class UnevaluableError(ValueError):
    """The expression has no value under the given names (unknown name, load, division by zero)."""


def wrap(value: Value, dtype: ScalarType) -> Value:
    """Convert ``value`` to ``dtype`` as a C cast does (floats to integers saturate nothing)."""
    match dtype.kind:
        case Kind.BOOL:
            return bool(value)
        case Kind.FLOAT:
            number = float(value)
            if dtype.bits == 32 and math.isfinite(number):
                try:
                    return float(struct.unpack("f", struct.pack("f", number))[0])
                except OverflowError:
                    return math.copysign(math.inf, number)
            return number
        case Kind.INT | Kind.UINT:
            if isinstance(value, float) and not math.isfinite(value):
                raise UnevaluableError("a non-finite value has no integer")
            bits = int(value) & ((1 << dtype.bits) - 1)
            if dtype.kind is Kind.INT and bits >> (dtype.bits - 1):
                bits -= 1 << dtype.bits
            return bits


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
            match expr.op:
                case UnaryOp.NEG:
                    return wrap(-operand, expr.type)
                case UnaryOp.BITNOT:
                    return wrap(~int(operand), expr.type)
                case UnaryOp.NOT:
                    return not operand
        case Binary():
            return wrap(
                _binary(expr.op, evaluate(expr.lhs, names), evaluate(expr.rhs, names), expr.type),
                expr.type,
            )
        case Compare():
            return _compare(expr.op, evaluate(expr.lhs, names), evaluate(expr.rhs, names))
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


def _binary(op: BinaryOp, a: Value, b: Value, dtype: ScalarType) -> Value:
    if dtype.is_float:
        match op:
            case BinaryOp.ADD:
                return a + b
            case BinaryOp.SUB:
                return a - b
            case BinaryOp.MUL:
                return a * b
            case BinaryOp.DIV if b != 0:
                return a / b
            case _:
                raise UnevaluableError(f"{op} on {a} and {b}")
    x, y = int(a), int(b)
    match op:
        case BinaryOp.ADD:
            return x + y
        case BinaryOp.SUB:
            return x - y
        case BinaryOp.MUL:
            return x * y
        case BinaryOp.DIV | BinaryOp.REM:
            if y == 0:
                raise UnevaluableError("division by zero")
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            return quotient if op is BinaryOp.DIV else x - quotient * y
        case BinaryOp.SHL | BinaryOp.SHR:
            if not 0 <= y < dtype.bits:
                raise UnevaluableError("shift count out of range")
            return x << y if op is BinaryOp.SHL else x >> y
        case BinaryOp.AND:
            return x & y
        case BinaryOp.OR:
            return x | y
        case BinaryOp.XOR:
            return x ^ y


def _compare(op: CompareOp, a: Value, b: Value) -> bool:
    match op:
        case CompareOp.LT:
            return a < b
        case CompareOp.LE:
            return a <= b
        case CompareOp.GT:
            return a > b
        case CompareOp.GE:
            return a >= b
        case CompareOp.EQ:
            return a == b
        case CompareOp.NE:
            return a != b


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
