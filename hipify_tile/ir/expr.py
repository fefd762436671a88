"""The one expression language of all three IRs.

Expressions are pure: the importer sequences every side effect of C (assignment in an expression,
``++``, calls) into statements. Each node carries its C type, so width, signedness and rounding are
explicit and no promotion is implied: both operands of a ``Binary`` have its type, and conversions
are ``Cast`` nodes.

Integer arithmetic wraps at the node's width (signed too: the reference executor is built with
``-fwrapv``). ``div`` and ``rem`` truncate toward zero. Float operations round to the node's type
after every operation and are never contracted or reassociated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from hipify_tile.ir.span import Span
from hipify_tile.ir.types import BOOL, ScalarType


class BinaryOp(StrEnum):
    """Arithmetic and bitwise operators; operands and result share one type.

    The shift count of ``SHL``/``SHR`` has been cast to the type of the left operand; ``SHR`` is
    arithmetic for signed types.
    """

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    REM = "%"
    SHL = "<<"
    SHR = ">>"
    AND = "&"
    OR = "|"
    XOR = "^"


class UnaryOp(StrEnum):
    """Unary operators; ``NOT`` is logical and has type ``bool``."""

    NEG = "-"
    BITNOT = "~"
    NOT = "!"


class CompareOp(StrEnum):
    """Comparisons with IEEE semantics for floats (every one but ``NE`` is false on NaN)."""

    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    EQ = "=="
    NE = "!="


class LogicalOp(StrEnum):
    """Short-circuit operators: the right operand is evaluated only when it decides."""

    AND = "&&"
    OR = "||"


class IndexKind(StrEnum):
    """CUDA's built-in index variables."""

    THREAD = "threadIdx"
    BLOCK = "blockIdx"
    BLOCK_DIM = "blockDim"
    GRID_DIM = "gridDim"


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; ``value`` is exact: for float32 it is the double equal to the float."""

    value: int | float | bool
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar parameter, local variable, loop variable or launch symbol."""

    name: str
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    """``threadIdx.x`` and its kin; ``axis`` 0 is x. The type is ``uint32``, as in CUDA."""

    kind: IndexKind
    axis: int
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """``op operand``."""

    op: UnaryOp
    operand: Expr
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """``lhs op rhs`` in the node's type."""

    op: BinaryOp
    lhs: Expr
    rhs: Expr
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """``lhs op rhs``; both operands have one type, the result is ``bool``."""

    op: CompareOp
    lhs: Expr
    rhs: Expr
    type: ScalarType = BOOL
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Logical:
    """``lhs && rhs`` or ``lhs || rhs`` on ``bool`` operands."""

    op: LogicalOp
    lhs: Expr
    rhs: Expr
    type: ScalarType = BOOL
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """``cond ? then : orelse``; only the chosen arm is evaluated."""

    cond: Expr
    then: Expr
    orelse: Expr
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """A C value conversion (to ``bool`` it is ``!= 0``)."""

    operand: Expr
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bitcast:
    """The same bits read as another type of equal width (``__float_as_int``)."""

    operand: Expr
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Load:
    """An element of a buffer; one index a dimension, row-major, each of an integer type.

    For a buffer that is a pointer parameter the single index counts elements from the pointer and
    may be negative.
    """

    buffer: str
    indices: tuple[Expr, ...]
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A pure function of its arguments, named as C's libm names it without a type suffix.

    ``Call("sqrt", (x,), F32)`` is ``sqrtf``. Names beyond libm: ``min max abs`` (integers),
    ``rsqrt``, ``popcount clz ffs brev`` (integers), ``saturate``. The table of known names, with
    their spelling per target, is ``hipify_tile/ir/intrinsics.py``.
    """

    name: str
    args: tuple[Expr, ...]
    type: ScalarType
    span: Span | None = field(default=None, compare=False, repr=False)


Expr = (
    Const | Var | Index | Unary | Binary | Compare | Logical | Select | Cast | Bitcast | Load | Call
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of ``expr`` in evaluation order."""
    match expr:
        case Const() | Var() | Index():
            return ()
        case Unary() | Cast() | Bitcast():
            return (expr.operand,)
        case Binary() | Compare() | Logical():
            return (expr.lhs, expr.rhs)
        case Select():
            return (expr.cond, expr.then, expr.orelse)
        case Load():
            return expr.indices
        case Call():
            return expr.args


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield ``expr`` and all its descendants, parents first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def map_children(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Rebuild ``expr`` with ``f`` applied to each direct operand (identity is preserved)."""
    changes: dict[str, object] = {}
    for item in fields(expr):
        value = getattr(expr, item.name)
        if isinstance(value, _NODES):
            new: object = f(value)
            if new is not value:
                changes[item.name] = new
        elif isinstance(value, tuple):
            mapped = tuple(f(v) for v in value)
            if any(a is not b for a, b in zip(mapped, value, strict=True)):
                changes[item.name] = mapped
    return replace(expr, **changes) if changes else expr  # type: ignore[arg-type]


def transform(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Apply ``f`` bottom-up to every node of ``expr``."""
    return f(map_children(expr, lambda e: transform(e, f)))


_NODES = (
    Const, Var, Index, Unary, Binary, Compare, Logical, Select, Cast, Bitcast, Load, Call,
)  # fmt: skip
