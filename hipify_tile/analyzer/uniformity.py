"""Uniformity (divergence) analysis: which values are the same in every thread of a block.

``threadIdx`` and results of atomics are divergent; launch symbols, parameters and constants are
uniform; a load is uniform when its indices are, because a uniform value is computed once a block,
at one moment, where every thread would read the same element. A local is uniform when every value
assigned to it is and no assignment is controlled by a divergent condition.

The analysis is flow-insensitive: a local has one verdict in the whole kernel. It works on
the IR and knows nothing of the source language. Exits of the kernel are not control here: threads
that have left take no part in what follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.diagnostics.model import Label
from hipify_tile.ir.expr import Call, Expr, Index, IndexKind, Load, Unary, UnaryOp, Var, children
from hipify_tile.ir.simt import Buffer, Kernel, Scope
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicRMW,
    Block,
    For,
    If,
    Leave,
    Stmt,
    While,
    bodies,
    walk_stmts,
)


@dataclass(frozen=True, slots=True)
class Uniformity:
    """The verdicts: ``divergent`` maps each divergent local to the label of its cause."""

    divergent: dict[str, Label | None]
    private: frozenset[str]

    def is_uniform(self, expr: Expr) -> bool:
        """Whether ``expr`` has one value in all threads of a block."""
        return self._divergent_leaf(expr) is None

    def cause(self, expr: Expr) -> Label | None:
        """Return what makes ``expr`` divergent, if its position is known."""
        leaf = self._divergent_leaf(expr)
        match leaf:
            case Var(name=name):
                known = self.divergent.get(name)
                if known is not None:
                    return known
                return Label(leaf.span, f"`{name}` differs between threads") if leaf.span else None
            case Index(axis=axis):
                text = f"threadIdx.{'xyz'[axis]} differs between threads"
                return Label(leaf.span, text) if leaf.span else None
            case Load(buffer=name):
                return Label(leaf.span, f"`{name}` is private to a thread") if leaf.span else None
            case _:
                return None

    def _divergent_leaf(self, expr: Expr) -> Expr | None:
        match expr:
            case Index(kind=IndexKind.THREAD):
                return expr
            case Var(name=name) if name in self.divergent:
                return expr
            case Load(buffer=name) if name in self.private:
                return expr
        for child in children(expr):
            found = self._divergent_leaf(child)
            if found is not None:
                return found
        return None


def analyze(kernel: Kernel, *, exit_flag: str = "") -> Uniformity:
    """Analyse a kernel. A guard ``!exit_flag`` is, like an exit, not taken as control."""
    private = frozenset(b.name for b in kernel.buffers if is_private(b))
    state = Uniformity({}, private)
    while True:
        before = len(state.divergent)
        _scan(kernel.body, state, None, False, exit_flag)
        if len(state.divergent) == before:
            return state


def is_private(buffer: Buffer) -> bool:
    """Whether each thread has its own copy of the buffer."""
    return buffer.scope in (Scope.LOCAL, Scope.BLOCK_LOCAL)


def is_exit_guard(stmt: Stmt, exit_flag: str) -> bool:
    """Whether ``stmt`` is ``if (!exit_flag) …``."""
    match stmt:
        case If(cond=Unary(op=UnaryOp.NOT, operand=Var(name=name)), orelse=()):
            return bool(exit_flag) and name == exit_flag
        case _:
            return False


def _scan(
    body: tuple[Stmt, ...],
    state: Uniformity,
    control: Label | None,
    divergent: bool,
    exit_flag: str,
) -> None:
    """Mark the locals assigned in ``body``; ``divergent`` says that only some threads run it."""
    for stmt in body:
        inner, label = divergent, control
        match stmt:
            case Assign(target=name, value=value):
                if divergent:
                    state.divergent.setdefault(name, control)
                elif not state.is_uniform(value):
                    state.divergent.setdefault(name, state.cause(value))
            case AtomicRMW(result=str(name)):
                text = f"`{name}` is the result of an atomic operation"
                state.divergent.setdefault(name, Label(stmt.span, text) if stmt.span else None)
            case If(cond=cond) | While(cond=cond):
                if not is_exit_guard(stmt, exit_flag) and not state.is_uniform(cond):
                    inner, label = True, state.cause(cond)
            case For(start=start, stop=stop, var=var):
                for bound in (start, stop):
                    if not state.is_uniform(bound):
                        inner, label = True, state.cause(bound)
                        state.divergent.setdefault(var.name, state.cause(bound))
                if divergent:
                    state.divergent.setdefault(var.name, control)
            case _:
                pass
        if isinstance(stmt, For | While | Block) and not inner:
            leave = _divergent_leave(stmt.body, state, exit_flag)
            if leave is not None:
                inner, label = True, leave[0]
        if isinstance(stmt, For) and inner:
            state.divergent.setdefault(stmt.var.name, label)
        for nested in bodies(stmt):
            _scan(nested, state, label, inner, exit_flag)


def _divergent_leave(
    body: tuple[Stmt, ...], state: Uniformity, exit_flag: str
) -> tuple[Label | None] | None:
    """Find a divergent condition inside ``body`` under which it is left to ``label`` or beyond."""
    own = {s.label for s in walk_stmts(body) if isinstance(s, For | While | Block)}

    def leaves(stmts: tuple[Stmt, ...]) -> bool:
        return any(
            isinstance(s, Leave) and s.label != KERNEL and s.label not in own
            for s in walk_stmts(stmts)
        )

    for stmt in walk_stmts(body):
        match stmt:
            case If(cond=cond) | While(cond=cond):
                conditions: tuple[Expr, ...] = (cond,)
            case For(start=start, stop=stop):
                conditions = (start, stop)
            case _:
                continue
        if is_exit_guard(stmt, exit_flag):
            continue
        for condition in conditions:
            if not state.is_uniform(condition) and any(leaves(b) for b in bodies(stmt)):
                return (state.cause(condition),)
    return None


def reads_memory(expr: Expr) -> bool:
    """Whether evaluating ``expr`` loads from a buffer or calls a function."""
    return isinstance(expr, Load | Call) or any(reads_memory(c) for c in children(expr))
