"""Conversions of floating-point values to unsigned integers, with one result on every processor.

    (uint64_t)best[0]   →   tm_to_uint64(best[0])

C leaves those of negative, large and NaN values open, and processors differ: instructions that
AVX-512 has give other bits than the sequence of older ones, which the original is executed with.
Signed ones do not differ, and narrower ones go through int32.
"""

from __future__ import annotations

from collections.abc import Mapping

from hipify_tile.build import c_tree as t
from hipify_tile.build.c_affine import INT32, type_of
from hipify_tile.build.c_tree import C, Call, Cast, Declare, For, UnreadableError

SUPPORT = """\
// As processors without instructions for unsigned integers convert; integers as ever.
template <class T>
static inline uint32_t tm_to_uint32(T x) { return (uint32_t)(int64_t)x; }
template <class T>
static inline uint64_t tm_to_uint64(T x) {
  if constexpr ((T)0.5f == (T)0) {
    return (uint64_t)x;
  } else {
    const T half = (T)9223372036854775808.0;
    return x >= half ? (uint64_t)(int64_t)(x - half) ^ (1ull << 63) : (uint64_t)(int64_t)x;
  }
}
"""
_UNSIGNED = {"uint32_t": "tm_to_uint32", "uint64_t": "tm_to_uint64"}


def defined(lines: list[str], types: Mapping[str, str]) -> list[str]:
    """Return the statements ``lines`` with such conversions replaced.

    ``types`` are those of names declared outside. What cannot be read stays.
    """
    if not any(f"({name})" in line for line in lines for name in _UNSIGNED):
        return lines
    try:
        body = t.read_statements(lines)
    except UnreadableError:
        return lines
    known = dict(types)
    known.update({s.name: s.type for s in t.statements(body) if isinstance(s, Declare)})
    known.update({s.var: INT32 for s in t.statements(body) if isinstance(s, For)})

    def replaced(expr: C) -> C:
        expr = t.rebuild(expr, replaced)
        if not isinstance(expr, Cast) or expr.type not in _UNSIGNED:
            return expr
        # Of a type that is not known the function does what the cast does, unless it is a float.
        type_ = type_of(expr.operand, known)
        if type_ not in ("float", "double", ""):
            return expr
        return Call(_UNSIGNED[expr.type], (expr.operand,))

    changed = t.map_expressions(body, replaced)
    return list(t.lines(changed, "    ")) if changed != body else lines
