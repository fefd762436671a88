"""Spelling of literals in emitted TileLang.

TileLang's C output prints floats with seven significant digits, so a literal that needs more, and
a negative zero, is spelled through its bits by the emitted helpers ``f32`` and ``f64``.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from hipify_tile.ir.expr import Const
from hipify_tile.ir.types import BF16, BOOL, F16, F32, F64, I32

F32_HELPER = '''\
def f32(value):
    """Return the float32 nearest to ``value``, spelled by its bits: C output rounds literals."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return T.reinterpret(T.uint32(bits), "float32")
'''

F64_HELPER = '''\
def f64(value):
    """Return the float64 ``value``, spelled by its bits: C output rounds literals."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return T.reinterpret(T.uint64(bits), "float64")
'''


def literal(const: Const, *, bare: bool) -> str:
    """Return the Python text of ``const``.

    ``bare`` says that the literal's type is given by its context (an operand of its type beside
    it); then int32, int64 and float32 literals need no constructor.
    """
    type_, value = const.type, const.value
    if type_ == BOOL:
        return f"T.bool({bool(value)})"
    if type_.is_integer:
        return str(int(value)) if bare and type_ == I32 else f"T.{type_}({int(value)})"
    number = float(value)
    if not is_plain(const):
        return special(number, const)
    if type_ == F32 and bare:
        return _decimal(number)
    return f"T.{type_}({_decimal(number)})"


def is_plain(const: Const) -> bool:
    """Whether TileLang prints this literal exactly on every target."""
    if not const.type.is_float:
        return True
    value = float(const.value)
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        return False
    if const.type in (F16, BF16) or value == 0:
        return True
    printed = Fraction(f"{value:.6e}")
    return abs(printed - Fraction(value)) * 4 < Fraction(_ulp(value, const))


def _decimal(number: float) -> str:
    """Return the shortest decimal text, without a plus sign in the exponent."""
    return repr(number).replace("e+", "e")


def special(number: float, const: Const) -> str:
    """Spell a literal by its bits."""
    text = _decimal(number)
    if not math.isfinite(number):
        text = f'float("{number}")'
    elif const.type == F32:
        text = shortest_float32(number).replace("e+", "e")
    if const.type in (F16, BF16):
        return f'T.cast(f32({text}), "{const.type}")'
    return f"{'f32' if const.type == F32 else 'f64'}({text})"


def shortest_float32(value: float) -> str:
    """Return the shortest decimal text that rounds to this float32."""
    wanted = struct.pack("<f", value)
    for digits in range(1, 10):
        text = repr(float(f"{value:.{digits}g}"))
        try:
            if struct.pack("<f", float(text)) == wanted:
                return text
        except OverflowError:
            continue
    return repr(value)


def _ulp(value: float, const: Const) -> float:
    if const.type == F64:
        return math.ulp(value)
    exponent = max(math.frexp(value)[1] - 24, -149)
    return math.ldexp(1.0, exponent)
