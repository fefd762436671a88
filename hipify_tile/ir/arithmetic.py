"""C arithmetic on literal values, exact for each type of the expression language.

The one place that says what ``7u - 9u``, ``-7 / 2`` or ``(float) 16777217`` is. Every function
returns None where C leaves the result undefined, or where the type has no exact model here.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

from hipify_tile.ir.expr import BinaryOp, CompareOp, UnaryOp
from hipify_tile.ir.types import BOOL, F32, F64, Kind, ScalarType

Value = int | float | bool

_COMPARE: dict[CompareOp, Callable[[Value, Value], bool]] = {
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.GT: operator.gt,
    CompareOp.GE: operator.ge,
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
}


def wrap(value: int, type_: ScalarType) -> int:
    """Reduce ``value`` modulo 2**bits into the range of an integer type."""
    value &= (1 << type_.bits) - 1
    return (
        value - (1 << type_.bits) if type_.kind is Kind.INT and value >> (type_.bits - 1) else value
    )


def convert(value: Value, type_: ScalarType) -> Value | None:
    """Convert ``value`` to ``type_`` as a C cast does."""
    if type_ == BOOL:
        return bool(value != 0)
    if type_.is_integer:
        if not isinstance(value, float):
            return wrap(int(value), type_)
        if not math.isfinite(value):
            return None
        whole = math.trunc(value)
        return whole if wrap(whole, type_) == whole else None
    if type_ == F64:
        return float(value)
    return round_float32(value) if type_ == F32 else None


def round_float32(value: Value) -> float:
    """Round an integer or a double to the nearest float32, ties to even, overflow to infinity."""
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return _round_integer(value)
    try:
        return float(struct.unpack("<f", struct.pack("<f", float(value)))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def unary(op: UnaryOp, value: Value, type_: ScalarType) -> Value:
    """Apply ``op`` in ``type_``."""
    match op:
        case UnaryOp.NOT:
            return not value
        case UnaryOp.NEG:
            return -float(value) if type_.is_float else wrap(-int(value), type_)
        case UnaryOp.BITNOT:
            return wrap(~int(value), type_)


def binary(op: BinaryOp, a: Value, b: Value, type_: ScalarType) -> Value | None:
    """Apply ``op`` to operands of ``type_``: integers wrap, floats round once.

    Rounding a float32 result from double is rounding once: a double holds more than twice the
    digits that decide it (Figueroa, "When is double rounding innocuous?", 1995).
    """
    if type_.is_float:
        exact = _float_binary(op, float(a), float(b))
        return None if exact is None else convert(exact, type_)
    result = _int_binary(op, int(a), int(b), type_)
    return None if result is None else wrap(result, type_)


def compare(op: CompareOp, a: Value, b: Value) -> bool:
    """Compare two values of one type."""
    return _COMPARE[op](a, b)


def _float_binary(op: BinaryOp, a: float, b: float) -> float | None:
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MUL:
            return a * b
        case BinaryOp.DIV if b:
            return a / b
        case _:
            return None


def _int_binary(op: BinaryOp, a: int, b: int, type_: ScalarType) -> int | None:
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MUL:
            return a * b
        case BinaryOp.AND:
            return a & b
        case BinaryOp.OR:
            return a | b
        case BinaryOp.XOR:
            return a ^ b
        case BinaryOp.SHL if 0 <= b < type_.bits:
            return a << b
        case BinaryOp.SHR if 0 <= b < type_.bits:
            return a >> b
        case BinaryOp.DIV if b:
            return _truncated(a, b)
        case BinaryOp.REM if b:
            return a - _truncated(a, b) * b
        case _:
            return None


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _round_integer(value: int) -> float:
    sign, magnitude = (-1, -value) if value < 0 else (1, value)
    shift = magnitude.bit_length() - 24
    quotient, rest = divmod(magnitude, 1 << shift)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and quotient & 1):
        quotient += 1
    return sign * math.ldexp(float(quotient), shift)
