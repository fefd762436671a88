"""Exact evaluation of operations on literals, in C's arithmetic.

``2.0f / 3.0f`` → the float nearest to the quotient; ``7u - 9u`` → 4294967294. A division by zero
stays. Integer ``x - x`` and ``x == x`` are decided too: TileLang would, after the fact.
"""

from __future__ import annotations

import struct

from hipify_tile.ir.arithmetic import binary, compare, convert, unary
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Select,
    Unary,
)
from hipify_tile.ir.types import BOOL, ScalarType


def fold(expr: Expr) -> Expr:
    """Return the literal that ``expr`` equals, if its operands are literals that decide it."""
    match expr:
        case Cast(operand=Const(value=value), type=type_):
            done = convert(value, type_)
            return expr if done is None else Const(done, type_, expr.span)
        case Bitcast(operand=Const() as operand, type=type_):
            return _reinterpreted(expr, operand, type_)
        case Unary(op=op, operand=Const(value=value), type=type_):
            return Const(unary(op, value, type_), type_, expr.span)
        case Binary(op=op, lhs=Const(value=a), rhs=Const(value=b), type=type_):
            done = binary(op, a, b, type_)
            return expr if done is None else Const(done, type_, expr.span)
        case Binary(op=BinaryOp.SUB | BinaryOp.XOR, lhs=lhs, rhs=rhs, type=type_) if (
            type_.is_integer and lhs == rhs
        ):
            return Const(0, type_, expr.span)
        case Compare(op=op, lhs=lhs, rhs=rhs) if lhs.type.is_integer and lhs == rhs:
            equal = op in (CompareOp.LE, CompareOp.GE, CompareOp.EQ)
            return Const(equal, BOOL, expr.span)
        case Compare(op=op, lhs=Const(value=a), rhs=Const(value=b)):
            return Const(compare(op, a, b), BOOL, expr.span)
        case Logical(op=op, lhs=Const(value=value), rhs=rhs):
            decided = bool(value) == (op is LogicalOp.OR)
            return Const(bool(value), BOOL, expr.span) if decided else rhs
        case Select(cond=Const(value=value), then=then, orelse=orelse):
            return then if value else orelse
        case _:
            return expr


_FORMATS = {
    "int32": "i",
    "uint32": "I",
    "float32": "f",
    "int64": "q",
    "uint64": "Q",
    "float64": "d",
}


def _reinterpreted(expr: Expr, operand: Const, type_: ScalarType) -> Expr:
    source, target = _FORMATS.get(str(operand.type)), _FORMATS.get(str(type_))
    if source is None or target is None:
        return expr
    (value,) = struct.unpack(f"<{target}", struct.pack(f"<{source}", operand.value))
    return Const(value, type_, expr.span)
