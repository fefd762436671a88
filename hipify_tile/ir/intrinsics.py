"""The table of ``Call`` names: operand and result types, CUDA spellings, and the formula on a CPU.

A formula is C++ text over ``{0}``, ``{1}``, ``{2}`` (operands already of their types) whose value
defines the intrinsic; the headers the original is compiled against and the emitted C both compute
it, so results compare bit for bit under ``-ffp-contract=off``. ``{s}`` is libm's suffix of the type
(``f`` for float32, empty for float64), ``{one}`` the literal 1 of the type.

NaN: ``fmin``/``fmax`` return the other operand when one is NaN (C99); which zero they return for
(-0, +0) is that of the C library on both sides. ``fma`` rounds once. ``min``/``max``/``abs`` are
integer operations; ``abs`` of the most negative value is itself.

Names that start with ``fast_`` are CUDA's approximations (``__expf``); a CPU computes the accurate
function, a GPU's result may differ from it within CUDA's documented error.

CUDA spellings that are plain operations (``__fadd_rn``, ``__float_as_int``, ``__float2int_rz``) are
no calls: the importer turns them into ``Binary``, ``Bitcast`` and ``Cast``.
"""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.ir.types import BOOL, F32, F64, I32, I64, U32, U64, ScalarType

_FLOATS = (F32, F64)
_INTS = (I32, U32, I64, U64)
_UNARY = (
    "cbrt", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
    "lgamma", "tgamma", "ceil", "floor", "trunc", "round", "rint", "nearbyint",
)  # fmt: skip
_BINARY = ("pow", "fmod", "remainder", "atan2", "hypot", "copysign", "fdim", "nextafter")


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One name.

    ``types`` are the operand types it exists for (the type of operand 0). Other operands have the
    same type but those whose position is in ``int_operands``, which are int32. ``result`` is the
    result type, None meaning the operand type. ``formula`` is the CPU definition for every type,
    ``formulas`` overrides it per type name. ``f32`` and ``f64`` are CUDA spellings with the type in
    the name, ``overloaded`` those whose operand type selects the instance.
    """

    name: str
    arity: int
    types: tuple[ScalarType, ...]
    formula: str
    overloaded: tuple[str, ...] = ()
    f32: tuple[str, ...] = ()
    f64: tuple[str, ...] = ()
    result: ScalarType | None = None
    int_operands: tuple[int, ...] = ()
    formulas: tuple[tuple[str, str], ...] = ()
    approximate: bool = False

    def operand_type(self, position: int, type_: ScalarType) -> ScalarType:
        """Return the type of operand ``position`` of the instance for ``type_``."""
        return I32 if position in self.int_operands else type_

    def result_type(self, type_: ScalarType) -> ScalarType:
        """Return the result type of the instance whose operand 0 has ``type_``."""
        return self.result or type_

    def c_text(self, type_: ScalarType, *operands: str) -> str:
        """Return the CPU formula for operands of ``type_`` given as C++ text."""
        text = dict(self.formulas).get(type_.name, self.formula)
        one = "1.0f" if type_ is F32 else "1.0"
        return text.format(*operands, s="f" if type_ is F32 else "", one=one)


def _libm(
    name: str, arity: int = 1, *, f32: tuple[str, ...] = (), f64: tuple[str, ...] = ()
) -> Intrinsic:
    operands = ", ".join(f"{{{i}}}" for i in range(arity))
    return Intrinsic(
        name, arity, _FLOATS, f"{name}{{s}}({operands})", (name,), (f"{name}f", *f32), f64
    )


def _fast(name: str, of: str, spelling: str, arity: int = 1) -> Intrinsic:
    operands = ", ".join(f"{{{i}}}" for i in range(arity))
    return Intrinsic(name, arity, (F32,), f"{of}f({operands})", f32=(spelling,), approximate=True)


_TABLE: tuple[Intrinsic, ...] = (
    *map(_libm, _UNARY),
    _libm("sqrt", f32=("__fsqrt_rn",), f64=("__dsqrt_rn",)),
    _libm("fabs"),
    *(_libm(name, 2) for name in _BINARY),
    _libm("fmin", 2),
    _libm("fmax", 2),
    _libm("fma", 3, f32=("__fmaf_rn",), f64=("__fma_rn",)),
    Intrinsic(
        "ldexp", 2, _FLOATS, "ldexp{s}({0}, {1})", ("ldexp", "scalbn"), ("ldexpf", "scalbnf"),
        int_operands=(1,),
    ),
    Intrinsic(
        "rsqrt", 1, _FLOATS, "({one} / sqrt{s}({0}))", ("rsqrt",), ("rsqrtf",)
    ),
    Intrinsic("rcbrt", 1, _FLOATS, "(1.0 / cbrt({0}))", ("rcbrt",), ("rcbrtf",),
              formulas=(("float32", "((float)(1.0 / cbrt((double){0})))"),)),
    Intrinsic("saturate", 1, (F32,), "({0} >= 0.0f ? ({0} <= 1.0f ? {0} : 1.0f) : 0.0f)",
              f32=("__saturatef",)),
    Intrinsic("isnan", 1, _FLOATS, "({0} != {0})", ("isnan", "__isnan"), ("__isnanf",),
              result=BOOL),
    Intrinsic("isinf", 1, _FLOATS, "(__builtin_isinf({0}) != 0)", ("isinf", "__isinf"),
              ("__isinff",), result=BOOL),
    Intrinsic("isfinite", 1, _FLOATS, "(__builtin_isfinite({0}) != 0)", ("isfinite",),
              ("__finitef",), ("__finite",), result=BOOL),
    Intrinsic("signbit", 1, _FLOATS, "(__builtin_signbit({0}) != 0)", ("signbit",),
              ("__signbitf",), result=BOOL),
    _fast("fast_exp", "exp", "__expf"),
    Intrinsic("fast_exp10", 1, (F32,), "((float)pow(10.0, (double){0}))", f32=("__exp10f",),
              approximate=True),
    _fast("fast_log", "log", "__logf"),
    _fast("fast_log2", "log2", "__log2f"),
    _fast("fast_log10", "log10", "__log10f"),
    _fast("fast_sin", "sin", "__sinf"),
    _fast("fast_cos", "cos", "__cosf"),
    _fast("fast_tan", "tan", "__tanf"),
    _fast("fast_pow", "pow", "__powf", 2),
    Intrinsic("fast_div", 2, (F32,), "({0} / {1})", f32=("__fdividef", "fdividef"),
              approximate=True),
    Intrinsic("min", 2, _INTS, "({0} < {1} ? {0} : {1})",
              ("min", "umin", "llmin", "ullmin")),
    Intrinsic("max", 2, _INTS, "({0} > {1} ? {0} : {1})",
              ("max", "umax", "llmax", "ullmax")),
    Intrinsic("abs", 1, (I32, I64), "({0} < 0 ? -{0} : {0})", ("abs", "labs", "llabs")),
    Intrinsic("popcount", 1, (U32, U64), "__builtin_popcount({0})", ("__popc", "__popcll"),
              result=I32, formulas=(("uint64", "__builtin_popcountll({0})"),)),
    Intrinsic("clz", 1, (U32, U64), "({0} ? __builtin_clz({0}) : 32)", ("__clz", "__clzll"),
              result=I32, formulas=(("uint64", "({0} ? __builtin_clzll({0}) : 64)"),)),
    Intrinsic("ffs", 1, (U32, U64), "__builtin_ffs({0})", ("__ffs", "__ffsll"), result=I32,
              formulas=(("uint64", "__builtin_ffsll({0})"),)),
    Intrinsic("brev", 1, (U32, U64), "tm_brev32({0})", ("__brev", "__brevll"),
              formulas=(("uint64", "tm_brev64({0})"),)),
    Intrinsic(
        "mulhi", 2, _INTS, "(int32_t)(((int64_t){0} * (int64_t){1}) >> 32)",
        ("__mulhi", "__umulhi", "__mul64hi", "__umul64hi"),
        formulas=(
            ("uint32", "(uint32_t)(((uint64_t){0} * (uint64_t){1}) >> 32)"),
            ("int64", "(int64_t)(((__int128){0} * (__int128){1}) >> 64)"),
            ("uint64", "(uint64_t)(((unsigned __int128){0} * (unsigned __int128){1}) >> 64)"),
        ),
    ),
)  # fmt: skip

INTRINSICS: dict[str, Intrinsic] = {row.name: row for row in _TABLE}
"""Every known ``Call`` name."""


def _spellings() -> dict[str, tuple[Intrinsic, ScalarType | None]]:
    found: dict[str, tuple[Intrinsic, ScalarType | None]] = {}
    for row in _TABLE:
        found |= {s: (row, None) for s in row.overloaded}
        found |= {s: (row, F32) for s in row.f32}
        found |= {s: (row, F64) for s in row.f64}
    return found


CUDA_SPELLINGS: dict[str, tuple[Intrinsic, ScalarType | None]] = _spellings()
"""CUDA spelling → (intrinsic, its operand type or None where the arguments decide)."""

CPU_PRELUDE = """\
static inline uint32_t tm_brev32(uint32_t x) {
  x = ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
  x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
  x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
static inline uint64_t tm_brev64(uint64_t x) {
  return ((uint64_t)tm_brev32((uint32_t)x) << 32) | tm_brev32((uint32_t)(x >> 32));
}
"""
"""Helper functions that formulas refer to."""
