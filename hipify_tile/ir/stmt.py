"""Statements shared by ``simt.Kernel`` and ``loop.Nest``.

Which statements are legal at which level is the verifier's business (``hipify_tile/ir/verify.py``):
``Barrier`` only in a ``simt.Kernel``; ``Loop`` and named operations only in a ``loop.Nest``.

Control flow is structured. ``Leave(label)`` exits the enclosing ``Block``, ``For`` or ``While``
that carries ``label``; C's ``break``, ``continue`` (a ``Leave`` of the ``Block`` that wraps the
loop body), ``return`` of an inlined function and ``break`` of a switch all become it. A kernel's
own ``return`` is ``Leave(KERNEL)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hipify_tile.ir.expr import Expr, Var
from hipify_tile.ir.span import Span

KERNEL = "kernel"
"""Label of the implicit block around a kernel's body: leaving it ends the thread."""


class AtomicOp(StrEnum):
    """CUDA's atomic read-modify-write operations, with CUDA's semantics for ``inc``/``dec``."""

    ADD = "add"
    SUB = "sub"
    EXCH = "exch"
    MIN = "min"
    MAX = "max"
    INC = "inc"
    DEC = "dec"
    CAS = "cas"
    AND = "and"
    OR = "or"
    XOR = "xor"


class AxisKind(StrEnum):
    """What the iterations of an axis may do to one another."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value`` for a scalar local; the value has the local's type."""

    target: str
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Store:
    """``buffer[indices] = value``; the value has the buffer's element type."""

    buffer: str
    indices: tuple[Expr, ...]
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AtomicRMW:
    """``result = op(&buffer[indices], operands…)``; ``result`` (old value) may be None.

    Operands: one, except ``cas`` which has (compare, value).
    """

    op: AtomicOp
    buffer: str
    indices: tuple[Expr, ...]
    operands: tuple[Expr, ...]
    result: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    """``if (cond) then else orelse``."""

    cond: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """A counted loop: ``for (var = start; var < stop; var += step)`` (``>`` when ``step`` < 0).

    ``start`` and ``stop`` are evaluated once, ``step`` is a non-zero constant, the body does not
    assign ``var`` and nothing reads it after the loop. Anything else is a ``While``.
    """

    var: Var
    start: Expr
    stop: Expr
    step: int
    body: tuple[Stmt, ...]
    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class While:
    """``while (cond) body``; the condition is evaluated before every iteration."""

    cond: Expr
    body: tuple[Stmt, ...]
    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """A labelled block that ``Leave`` may exit."""

    label: str
    body: tuple[Stmt, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Leave:
    """Exit the enclosing statement that carries ``label``."""

    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Barrier:
    """``__syncthreads()``; an exited thread counts as arrived."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Axis:
    """An iteration variable over ``0 <= var < extent``; the extent's type is at least as wide."""

    var: Var
    extent: Expr
    kind: AxisKind


@dataclass(frozen=True, slots=True)
class Loop:
    """A perfect nest of ``axes`` (outermost first) around ``body``."""

    axes: tuple[Axis, ...]
    body: tuple[Stmt, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """``buffer[indices]``, with indices in terms of the axes of the named operation.

    A delinearised access has more indices than its buffer has dimensions; ``strides`` then gives
    the distance in elements between neighbours along each index.
    """

    buffer: str
    indices: tuple[Expr, ...]
    strides: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Contraction:
    """``out[…] = epilogue(init + Σ_reduction lhs[…] * rhs[…])`` over ``axes``.

    ``axes`` holds the PARALLEL axes first and then the REDUCTION axes. ``accumulator`` is the local
    that the sum is bound to inside ``epilogue`` (an expression that may also load ``out``).
    ``init`` is the sum's first value. Float sums may be reassociated: this is a named operation.
    """

    axes: tuple[Axis, ...]
    out: Access
    lhs: Access
    rhs: Access
    init: Expr
    accumulator: Var
    epilogue: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


Stmt = Assign | Store | AtomicRMW | If | For | While | Block | Leave | Barrier | Loop | Contraction


def bodies(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """Return the nested statement lists of ``stmt``."""
    match stmt:
        case If():
            return (stmt.then, stmt.orelse)
        case For() | While() | Block() | Loop():
            return (stmt.body,)
        case _:
            return ()


def exprs(stmt: Stmt) -> tuple[Expr, ...]:
    """Return the expressions that ``stmt`` itself evaluates (not those of nested statements)."""
    match stmt:
        case Assign():
            return (stmt.value,)
        case Store():
            return (*stmt.indices, stmt.value)
        case AtomicRMW():
            return (*stmt.indices, *stmt.operands)
        case If() | While():
            return (stmt.cond,)
        case For():
            return (stmt.start, stmt.stop)
        case Loop():
            return tuple(a.extent for a in stmt.axes)
        case Contraction():
            accesses = (*stmt.lhs.indices, *stmt.rhs.indices, *stmt.out.indices)
            return (*(a.extent for a in stmt.axes), *accesses, stmt.init, stmt.epilogue)
        case Block() | Leave() | Barrier():
            return ()


def walk_stmts(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield every statement of ``body``, parents first, in source order."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from walk_stmts(inner)


def map_bodies(stmt: Stmt, f: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """Rebuild ``stmt`` with ``f`` applied to each nested statement list."""
    match stmt:
        case If():
            return replace(stmt, then=f(stmt.then), orelse=f(stmt.orelse))
        case For() | While() | Block() | Loop():
            return replace(stmt, body=f(stmt.body))
        case _:
            return stmt


def map_exprs(stmt: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """Rebuild ``stmt`` with ``f`` applied to each expression it evaluates itself."""
    match stmt:
        case Assign():
            return replace(stmt, value=f(stmt.value))
        case Store():
            return replace(stmt, indices=tuple(f(i) for i in stmt.indices), value=f(stmt.value))
        case AtomicRMW():
            return replace(
                stmt,
                indices=tuple(f(i) for i in stmt.indices),
                operands=tuple(f(o) for o in stmt.operands),
            )
        case If() | While():
            return replace(stmt, cond=f(stmt.cond))
        case For():
            return replace(stmt, start=f(stmt.start), stop=f(stmt.stop))
        case Loop():
            return replace(stmt, axes=tuple(replace(a, extent=f(a.extent)) for a in stmt.axes))
        case _:
            return stmt
