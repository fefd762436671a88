"""How emitted TileLang calls the intrinsics of ``hipify_tile/ir/intrinsics.py``.

Three ways, the first that exists: an operator of TileLang that every target maps to the C function
(``T.sqrt``), the C function by name (``fabsf``), which C, CUDA and HIP all have, or a function
whose name depends on the target: CUDA's own on a GPU, on C a helper holding the table's formula.
"""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.ir.intrinsics import CPU_PRELUDE, INTRINSICS
from hipify_tile.ir.types import F32, F64, ScalarType

_OPERATORS = frozenset(
    ("exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
     "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "erf", "floor", "ceil", "trunc",
     "pow", "atan2", "copysign", "hypot", "nextafter")
)  # fmt: skip
_LIBM = frozenset(
    ("fabs", "fmod", "fmin", "fmax", "fma", "round", "rint", "nearbyint", "cbrt", "expm1", "erfc",
     "lgamma", "tgamma", "remainder", "fdim", "ldexp", "exp10")
)  # fmt: skip
_GPU_32 = {
    "rsqrt": "rsqrtf", "rcbrt": "rcbrtf", "saturate": "__saturatef", "fast_exp": "__expf",
    "fast_exp10": "__exp10f", "fast_log": "__logf", "fast_log2": "__log2f",
    "fast_log10": "__log10f", "fast_sin": "__sinf", "fast_cos": "__cosf", "fast_tan": "__tanf",
    "fast_pow": "__powf", "fast_div": "__fdividef",
    "popcount": "__popc", "clz": "__clz", "ffs": "__ffs", "brev": "__brev",
}  # fmt: skip
_GPU_64 = {
    "rsqrt": "rsqrt", "rcbrt": "rcbrt",
    "popcount": "__popcll", "clz": "__clzll", "ffs": "__ffsll", "brev": "__brevll",
}  # fmt: skip
_MULHI = {"int32": "__mulhi", "uint32": "__umulhi", "int64": "__mul64hi", "uint64": "__umul64hi"}
_C_TYPES = {"bool": "bool", "float32": "float", "float64": "double"}


@dataclass(frozen=True, slots=True)
class IntrinsicSpelling:
    """One function as emitted.

    ``operator`` is TileLang's operator, else ``name`` is a C function; where ``gpu`` and
    ``helper`` are set, ``name`` is a Python variable of the factory that holds ``gpu`` on GPU
    targets and the helper's name on C, and ``helper`` is the helper's C text.
    """

    key: str
    result: str
    operator: str = ""
    name: str = ""
    gpu: str = ""
    c_name: str = ""
    helper: str = ""

    @property
    def depends_on_target(self) -> bool:
        """Whether the factory must know its target."""
        return bool(self.helper)

    @property
    def is_portable(self) -> bool:
        """Whether every TileLang target can spell it."""
        return bool(self.operator)

    def call(self, args: str) -> str:
        """Return the call's text."""
        if self.operator:
            return f"T.{self.operator}({args})"
        name = self.name if self.helper else f'"{self.name}"'
        return f'T.call_pure_extern("{self.result}", {name}, {args})'


def c_type(name: str) -> str:
    """Return the C type of a dtype as TileLang's C output spells it."""
    return _C_TYPES.get(name, f"{name}_t")


def spell(name: str, type_: ScalarType) -> IntrinsicSpelling:
    """Return how to call intrinsic ``name`` on operands of ``type_``; KeyError if unknown."""
    row = INTRINSICS[name]
    result = str(row.result_type(type_))
    key = f"{name}_{type_}"
    if name in _OPERATORS and type_ in (F32, F64):
        return IntrinsicSpelling(key, result, operator=name)
    if name in ("min", "max", "isnan"):
        return IntrinsicSpelling(key, result, operator=name)
    if name in _LIBM and type_ in (F32, F64):
        suffix = "f" if type_ == F32 else ""
        return IntrinsicSpelling(key, result, name=f"{name}{suffix}")
    args = "abc"[: row.arity]
    params = ", ".join(f"{c_type(str(row.operand_type(i, type_)))} {a}" for i, a in enumerate(args))
    body = row.c_text(type_, *args)
    c_name = f"tm_{key}"
    helper = f'extern "C" {c_type(result)} {c_name}({params}) {{ return {body}; }}\n'
    if name == "brev":
        helper = CPU_PRELUDE + helper
    gpu = _gpu_name(name, type_)
    return IntrinsicSpelling(key, result, name=key, gpu=gpu, c_name=c_name, helper=helper)


def _gpu_name(name: str, type_: ScalarType) -> str:
    if name == "mulhi":
        return _MULHI[str(type_)]
    if name in ("abs", "isinf", "isfinite", "signbit"):
        return name
    return (_GPU_32 if type_.bits == 32 else _GPU_64)[name]
