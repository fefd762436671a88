"""Control-flow structurization: every ``Leave`` that TileLang cannot spell becomes a guard.

TileLang has ``break`` and ``continue`` of the innermost loop, and ``if``. Left alone are a
``Leave`` of the innermost loop, and a ``Leave`` of the ``Block`` that is that loop's whole body.
All others go:

```
if (i >= n) leave kernel          if (i >= n) {}
rest                        →     else rest

while (c) [outer] {               while (c) [outer] {
  for (…) [inner] {                 left = false
    if (d) leave outer              for (…) [inner] { if (d) { left = true; leave inner } }
  }                         →       if (!left) rest else leave outer
  rest
}                                 }
```

A thread that ends before a barrier counts as arrived, so a guard must not swallow the barrier: with
``Exits.FLAG`` the guard ``if (!exited)`` is put around the parts between barriers instead; with
``Exits.NATIVE`` such a ``Leave(KERNEL)`` stays, for a target that can end a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hipify_tile.ir.expr import Const, Expr, Unary, UnaryOp, Var
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    Barrier,
    Block,
    For,
    If,
    Leave,
    Stmt,
    While,
    map_bodies,
    walk_stmts,
)
from hipify_tile.ir.types import BOOL, ScalarType
from hipify_tile.passes import Pass
from hipify_tile.rewriter.names import Namer


class Exits(StrEnum):
    """How a thread that ends before a later barrier is represented."""

    NATIVE = "native"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Structured:
    """The structured kernel; ``exit_flag`` is the local that marks ended threads, or empty."""

    kernel: Kernel
    exit_flag: str = ""


@dataclass(frozen=True)
class Structurize(Pass):
    """``simt.Kernel`` → ``simt.Kernel`` whose every ``Leave`` is native (see the module)."""

    name = "structurize"

    def run(self, program: Kernel) -> Kernel:
        """Rewrite with native exits."""
        return structurize(program, Exits.NATIVE, lambda _: False).kernel


def structurize(kernel: Kernel, exits: Exits, is_uniform: Callable[[Expr], bool]) -> Structured:
    """Structure ``kernel``.

    ``is_uniform`` tells whether a condition is the same in all threads of a block: a uniform exit
    takes the barriers after it along, and needs no flag.
    """
    taken = {name for name, _ in kernel.locals} | {b.name for b in kernel.buffers}
    taken |= {p.name for p in kernel.params} | _loop_variables(kernel.body)
    state = _Structurer(exits, is_uniform, Namer(taken))
    body = state.sequence(kernel.body, _Context(tail=frozenset({KERNEL})))
    body = state.reset(KERNEL, body)
    done = replace(kernel, body=body, locals=(*kernel.locals, *state.locals))
    return Structured(done, state.flags.get(KERNEL, ""))


def contains_barrier(body: tuple[Stmt, ...]) -> bool:
    """Whether a barrier lies anywhere in ``body``."""
    return any(isinstance(s, Barrier) for s in walk_stmts(body))


def _loop_variables(body: tuple[Stmt, ...]) -> set[str]:
    return {s.var.name for s in walk_stmts(body) if isinstance(s, For)}


def _targets(stmts: tuple[Stmt, ...]) -> set[str]:
    """Labels outside ``stmts`` that a ``Leave`` in them goes to."""
    own = {s.label for s in walk_stmts(stmts) if isinstance(s, For | While | Block)}
    return {s.label for s in walk_stmts(stmts) if isinstance(s, Leave)} - own


def _always_leaves(body: tuple[Stmt, ...]) -> bool:
    if not body:
        return False
    match body[-1]:
        case Leave():
            return True
        case If(then=then, orelse=orelse):
            return _always_leaves(then) and _always_leaves(orelse)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a statement list stands.

    ``tail``: labels whose target ends right after the list, so that leaving is falling through.
    ``loop``: label of the innermost loop; ``again``: label of the Block that is its whole body;
    ``blocks``: labels of the other Blocks between that loop and the list. ``held``: the innermost
    loop contains a barrier. ``barrier_after``: a barrier may run after the end of the list.
    """

    tail: frozenset[str] = frozenset()
    loop: str = ""
    again: str = ""
    blocks: frozenset[str] = frozenset()
    held: bool = False
    barrier_after: bool = False

    def followed_by(self, rest: tuple[Stmt, ...]) -> _Context:
        """Return the context of a statement that ``rest`` follows in this list."""
        if not rest:
            return self
        after = self.barrier_after or contains_barrier(rest)
        return replace(self, tail=frozenset(), barrier_after=after)


@dataclass(slots=True)
class _Structurer:
    exits: Exits
    is_uniform: Callable[[Expr], bool]
    namer: Namer
    locals: list[tuple[str, ScalarType]] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)

    def sequence(self, body: tuple[Stmt, ...], ctx: _Context) -> tuple[Stmt, ...]:
        """Structure a statement list."""
        out: list[Stmt] = []
        for position, stmt in enumerate(body):
            rest = body[position + 1 :]
            if _targets((stmt,)):
                return (*out, *self.leaving(stmt, rest, ctx))
            out += self.statement(stmt, ctx.followed_by(rest))
        return tuple(out)

    def leaving(self, stmt: Stmt, rest: tuple[Stmt, ...], ctx: _Context) -> tuple[Stmt, ...]:
        """Structure a statement that may leave the list, and the ``rest`` after it."""
        if not rest or isinstance(stmt, Leave):
            return self.statement(stmt, ctx)
        here = ctx.followed_by(rest)
        pending = {label for label in _targets((stmt,)) if not self.is_native(label, stmt, here)}
        if isinstance(stmt, If) and pending and not self.is_flagged_exit(stmt, here):
            if _always_leaves(stmt.then):
                return self.statement(replace(stmt, orelse=(*stmt.orelse, *rest)), ctx)
            if _always_leaves(stmt.orelse):
                return self.statement(replace(stmt, then=(*stmt.then, *rest)), ctx)
        out = self.statement(stmt, here)
        guards: list[str] = []
        for label in sorted(pending):
            flag = self.flags.get(label)
            if flag is None:
                continue
            if ctx.loop and label in (ctx.loop, ctx.again):
                out = (*out, If(Var(flag, BOOL), (Leave(label),)))
            else:
                guards.append(label)
        after = self.sequence(rest, ctx)
        for label in guards:
            after = self.guard(label, after)
        return (*out, *after)

    def is_native(self, label: str, stmt: Stmt, ctx: _Context) -> bool:
        """Whether every ``Leave(label)`` of ``stmt`` in ``ctx`` is spelled without a flag."""
        if label == KERNEL:
            return self.exits is Exits.NATIVE and ctx.barrier_after
        through_loop = any(
            isinstance(s, For | While) and label in _targets((s,)) for s in walk_stmts((stmt,))
        )
        return bool(ctx.loop) and label in (ctx.loop, ctx.again) and not through_loop

    def is_flagged_exit(self, stmt: If, ctx: _Context) -> bool:
        """Whether ``stmt`` ends some threads of a block before a barrier that others reach."""
        exits = KERNEL in _targets((stmt,)) and ctx.barrier_after
        return exits and self.exits is Exits.FLAG and not self.is_uniform(stmt.cond)

    def statement(self, stmt: Stmt, ctx: _Context) -> tuple[Stmt, ...]:
        """Structure one statement whose end is the end of its list."""
        match stmt:
            case If():
                then = self.sequence(stmt.then, ctx)
                orelse = self.sequence(stmt.orelse, ctx)
                return (replace(stmt, then=then, orelse=orelse),)
            case For() | While():
                return self.loop(stmt, ctx)
            case Block(label=label):
                inner = replace(ctx, tail=ctx.tail | {label}, blocks=ctx.blocks | {label})
                return self.reset(label, self.sequence(stmt.body, inner))
            case Leave():
                return self.leave(stmt, ctx)
            case _:
                return (stmt,)

    def loop(self, stmt: For | While, ctx: _Context) -> tuple[Stmt, ...]:
        """Structure a loop; a Block that is its whole body stays where something continues it."""
        held = contains_barrier(stmt.body)
        inner = _Context(loop=stmt.label, held=held, barrier_after=ctx.barrier_after or held)
        match stmt.body:
            case (Block(label=again, body=body) as block,):
                inner = replace(inner, again=again, tail=frozenset({again}))
                done = self.reset(again, self.sequence(body, inner))
                if self.must_guard_loop(stmt, inner):
                    done = self.guard(KERNEL, done)
                if again in _targets(done):
                    done = (replace(block, body=done),)
            case body:
                done = self.sequence(body, inner)
                if self.must_guard_loop(stmt, inner):
                    done = self.guard(KERNEL, done)
        return self.reset(stmt.label, (replace(stmt, body=done),))

    def must_guard_loop(self, stmt: For | While, inner: _Context) -> bool:
        """Whether a thread that has ended goes on turning through this loop with the others."""
        return inner.held and KERNEL in self.flags and KERNEL in _targets((stmt,))

    def reset(self, label: str, done: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Clear the flag of ``label``, if it has one, before the statements it ends."""
        flag = self.flags.get(label)
        return (Assign(flag, Const(False, BOOL)), *done) if flag else done

    def leave(self, stmt: Leave, ctx: _Context) -> tuple[Stmt, ...]:
        """Spell one ``Leave``: by falling through, natively, or through a flag."""
        label = stmt.label
        if label in ctx.tail:
            return ()
        if ctx.loop and label in (ctx.loop, ctx.again):
            return (stmt,)
        if label == KERNEL and self.exits is Exits.NATIVE and ctx.barrier_after:
            return (stmt,)
        if label not in self.flags:
            self.flags[label] = self.namer.fresh("exited" if label == KERNEL else "left")
            self.locals.append((self.flags[label], BOOL))
        mark = Assign(self.flags[label], Const(True, BOOL), stmt.span)
        turns_on = label in ctx.blocks or (label == KERNEL and ctx.held)
        return (mark, Leave(ctx.loop)) if ctx.loop and not turns_on else (mark,)

    def guard(self, label: str, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Make ``body`` run only in threads that have not left to ``label``."""
        cond = Unary(UnaryOp.NOT, Var(self.flags[label], BOOL), BOOL)
        if label != KERNEL:
            return (If(cond, body),) if body else ()
        return _guard_between_barriers(cond, body)


def _guard_between_barriers(cond: Expr, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """``A; barrier; B`` → ``if (cond) A; barrier; if (cond) B``, at any depth."""
    out: list[Stmt] = []
    group: list[Stmt] = []

    def flush() -> None:
        if group:
            out.append(If(cond, tuple(group)))
            group.clear()

    for stmt in body:
        if contains_barrier((stmt,)):
            flush()
            out.append(map_bodies(stmt, lambda b: _guard_between_barriers(cond, b)))
        else:
            group.append(stmt)
    flush()
    return tuple(out)
