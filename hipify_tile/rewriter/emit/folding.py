"""Exact evaluation of operations on literals, in C's arithmetic.

``2.0f / 3.0f`` → the float nearest to the quotient; ``7u - 9u`` → 4294967294. A division by zero
stays. Integer ``x - x`` and ``x == x`` are decided too: TileLang would, after the fact.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

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
    UnaryOp,
)
from hipify_tile.ir.types import BOOL, F32, F64, Kind, ScalarType
from hipify_tile.rewriter.raise_.narrow import wrap

_COMPARE: dict[CompareOp, Callable[[float, float], bool]] = {
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.GT: operator.gt,
    CompareOp.GE: operator.ge,
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
}


def fold(expr: Expr) -> Expr:
    """Return the literal that ``expr`` equals, if its operands are literals that decide it."""
    match expr:
        case Cast(operand=Const(value=value), type=type_):
            done = convert(value, type_)
            return expr if done is None else Const(done, type_, expr.span)
        case Bitcast(operand=Const() as operand, type=type_):
            return _reinterpreted(expr, operand, type_)
        case Unary(op=op, operand=Const(value=value), type=type_):
            return _unary(expr, op, value, type_)
        case Binary(op=op, lhs=Const(value=a), rhs=Const(value=b), type=type_):
            if type_.is_float:
                return _float_binary(expr, op, float(a), float(b), type_)
            return _int_binary(expr, op, int(a), int(b), type_)
        case Binary(op=BinaryOp.SUB | BinaryOp.XOR, lhs=lhs, rhs=rhs, type=type_) if (
            type_.is_integer and lhs == rhs
        ):
            return Const(0, type_, expr.span)
        case Compare(op=op, lhs=lhs, rhs=rhs) if lhs.type.is_integer and lhs == rhs:
            equal = op in (CompareOp.LE, CompareOp.GE, CompareOp.EQ)
            return Const(equal, BOOL, expr.span)
        case Compare(op=op, lhs=Const(value=a), rhs=Const(value=b)):
            return Const(_COMPARE[op](a, b), BOOL, expr.span)
        case Logical(op=op, lhs=Const(value=value), rhs=rhs):
            decided = bool(value) == (op is LogicalOp.OR)
            return Const(bool(value), BOOL, expr.span) if decided else rhs
        case Select(cond=Const(value=value), then=then, orelse=orelse):
            return then if value else orelse
        case _:
            return expr


def convert(value: int | float, type_: ScalarType) -> int | float | bool | None:
    """Convert a literal to ``type_`` as C does; None where C leaves it undefined."""
    if type_ == BOOL:
        return bool(value != 0)
    if type_.is_integer:
        if isinstance(value, float):
            if not math.isfinite(value):
                return None
            whole = math.trunc(value)
            wrapped = wrap(whole, type_.bits, type_.kind is Kind.INT)
            return whole if wrapped == whole else None
        return wrap(int(value), type_.bits, type_.kind is Kind.INT)
    if type_ == F64:
        return float(value)
    if type_ == F32:
        return round_float32(value)
    return None


def round_float32(value: int | float) -> float:
    """Round an integer or a double to the nearest float32, ties to even, overflow to infinity."""
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return _round_exact(value)
    try:
        return float(struct.unpack("<f", struct.pack("<f", float(value)))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_exact(value: int) -> float:
    sign, magnitude = (-1, -value) if value < 0 else (1, value)
    shift = magnitude.bit_length() - 24
    quotient, rest = divmod(magnitude, 1 << shift)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and quotient & 1):
        quotient += 1
    return sign * math.ldexp(float(quotient), shift)


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


def _unary(expr: Expr, op: UnaryOp, value: float, type_: ScalarType) -> Expr:
    match op:
        case UnaryOp.NOT:
            return Const(not value, BOOL, expr.span)
        case UnaryOp.NEG if type_.is_float:
            return Const(-float(value), type_, expr.span)
        case UnaryOp.NEG:
            return Const(wrap(-int(value), type_.bits, type_.kind is Kind.INT), type_, expr.span)
        case UnaryOp.BITNOT:
            return Const(wrap(~int(value), type_.bits, type_.kind is Kind.INT), type_, expr.span)


def _int_binary(expr: Expr, op: BinaryOp, a: int, b: int, type_: ScalarType) -> Expr:
    match op:
        case BinaryOp.ADD:
            value = a + b
        case BinaryOp.SUB:
            value = a - b
        case BinaryOp.MUL:
            value = a * b
        case BinaryOp.AND:
            value = a & b
        case BinaryOp.OR:
            value = a | b
        case BinaryOp.XOR:
            value = a ^ b
        case BinaryOp.SHL if 0 <= b < type_.bits:
            value = a << b
        case BinaryOp.SHR if 0 <= b < type_.bits:
            value = a >> b
        case BinaryOp.DIV if b:
            value = _truncated(a, b)
        case BinaryOp.REM if b:
            value = a - _truncated(a, b) * b
        case _:
            return expr
    return Const(wrap(value, type_.bits, type_.kind is Kind.INT), type_, expr.span)


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _float_binary(expr: Expr, op: BinaryOp, a: float, b: float, type_: ScalarType) -> Expr:
    if type_ not in (F32, F64):
        return expr
    match op:
        case BinaryOp.ADD:
            value = a + b
        case BinaryOp.SUB:
            value = a - b
        case BinaryOp.MUL:
            value = a * b
        case BinaryOp.DIV if b:
            value = a / b
        case _:
            return expr
    return Const(round_float32(value) if type_ == F32 else value, type_, expr.span)
