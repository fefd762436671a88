"""Statements nested deeper than Python allows become a sequence under flags.

```
if a:                                  tail = False
    x = 1                              if a:
elif b:                                    x = 1
    x = 2                              elif b:
elif c:               →                    x = 2
    x = 3                              else:
else:                                      tail = True
    x = 4                              if tail:
                                           if c:
                                               x = 3
                                           else:
                                               x = 4
```

The last statement of every list on the way moves behind the outermost ``if`` like this. Where more
follows it, the ``if`` is split into one for each part, under a flag that holds its condition.
Conditions are evaluated as often and in the order they were. Loops stay: what is too deep through
them alone is refused when TileLang reads the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hipify_tile.ir.expr import Const, Expr, Unary, UnaryOp, Var
from hipify_tile.ir.stmt import Assign, Block, For, If, Leave, Loop, Stmt, While, bodies, map_bodies
from hipify_tile.ir.types import BOOL
from hipify_tile.rewriter.names import Namer

ROOM = 19
"""Python nests 20 blocks, and ``T.Kernel`` is one; TileLang makes two of every ``if``."""

_IF = 2


@dataclass(slots=True)
class Nesting:
    """Limits the depth of statement lists; ``flags`` are the new locals, all of type bool."""

    namer: Namer
    flags: list[str] = field(default_factory=list)

    def limit(self, body: tuple[Stmt, ...], room: int = ROOM) -> tuple[Stmt, ...]:
        """Rewrite ``body`` so that it nests at most ``room`` blocks."""
        if _deepest(body) <= room or room < 2 * _IF:
            return body
        out: list[Stmt] = []
        for stmt in body:
            if _depth(stmt) <= room:
                out.append(stmt)
            elif isinstance(stmt, If):
                out += self._if(stmt, room)
            else:
                out.append(self._inner(stmt, room - _own(stmt)))
        return tuple(out)

    def _inner(self, stmt: Stmt, room: int) -> Stmt:
        return map_bodies(stmt, lambda body: self.limit(body, room))

    def _if(self, stmt: If, room: int) -> Iterator[Stmt]:
        if not all(_has_deep_tail(b, room - _IF) for b in bodies(stmt)):
            yield from self._split(stmt, room)
            return
        tails: list[tuple[str, tuple[Stmt, ...]]] = []
        then = self._cut(stmt.then, room - _IF, tails)
        orelse = self._cut(stmt.orelse, room - _IF, tails)
        yield from (Assign(flag, Const(False, BOOL)) for flag, _ in tails)
        yield replace(stmt, then=then, orelse=orelse)
        for flag, tail in tails:
            yield from self.limit((If(Var(flag, BOOL), tail),), room)

    def _cut(
        self, body: tuple[Stmt, ...], room: int, tails: list[tuple[str, tuple[Stmt, ...]]]
    ) -> tuple[Stmt, ...]:
        """Replace what nests deeper than ``room`` by the setting of a flag in ``tails``."""
        if _deepest(body) <= room:
            return body
        last = body[-1]
        if room < _IF or not _has_deep_tail(body, room) or not isinstance(last, If):
            tails.append((self._flag("tail"), body))
            return (Assign(tails[-1][0], Const(True, BOOL)),)
        then = self._cut(last.then, room - _IF, tails)
        orelse = self._cut(last.orelse, room - _IF, tails)
        return (*body[:-1], replace(last, then=then, orelse=orelse))

    def _split(self, stmt: If, room: int) -> Iterator[Stmt]:
        """``if (c) { a; b; }  →  go = c; if (go) a; if (go) b;``."""
        flag = Var(self._flag("go"), BOOL)
        yield Assign(flag.name, stmt.cond)
        negated = Unary(UnaryOp.NOT, flag, BOOL)
        for cond, body in ((flag, stmt.then), (negated, stmt.orelse)):
            for part in _parts(body, room - _IF):
                yield from self._guarded(cond, part, room)

    def _guarded(self, cond: Expr, part: tuple[Stmt, ...], room: int) -> Iterator[Stmt]:
        if len(part) == 1 and not isinstance(part[0], If):
            yield If(cond, self.limit(part, room - _IF))
        else:
            yield from self.limit((If(cond, part),), room)

    def _flag(self, name: str) -> str:
        self.flags.append(self.namer.fresh(name))
        return self.flags[-1]


def _parts(body: tuple[Stmt, ...], room: int) -> Iterator[tuple[Stmt, ...]]:
    """Cut ``body`` around every statement that is too deep."""
    shallow: list[Stmt] = []
    for stmt in body:
        if _depth(stmt) <= room:
            shallow.append(stmt)
            continue
        if shallow:
            yield tuple(shallow)
            shallow = []
        yield (stmt,)
    if shallow:
        yield tuple(shallow)


def _has_deep_tail(body: tuple[Stmt, ...], room: int) -> bool:
    """Whether at most the last statement is too deep, and can be cut."""
    if _deepest(body) <= room:
        return True
    return isinstance(body[-1], If) and _deepest(body[:-1]) <= room


def _deepest(body: tuple[Stmt, ...]) -> int:
    return max(map(_depth, body), default=0)


def _depth(stmt: Stmt) -> int:
    """Python blocks that ``stmt`` nests once TileLang has rewritten its text."""
    return _own(stmt) + max(map(_deepest, bodies(stmt)), default=0)


def _own(stmt: Stmt) -> int:
    match stmt:
        case If():
            return _IF
        case Loop(axes=axes):
            return len(axes)
        case For() | While():
            leaves = _leaves(stmt.body)
            return 1 + leaves * (2 if isinstance(stmt, For) else 1)
        case _:
            return 0


def _leaves(body: tuple[Stmt, ...]) -> bool:
    """Whether a ``break`` or ``continue`` of the loop around ``body`` is in it."""
    for stmt in body:
        match stmt:
            case Leave():
                return True
            case If() | Block():
                if any(map(_leaves, bodies(stmt))):
                    return True
            case _:
                continue
    return False
