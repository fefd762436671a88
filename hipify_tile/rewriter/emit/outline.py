"""Long lines become several: a subexpression gets a variable until the line fits.

```
y[i] = very_long_left + very_long_right   →   t = very_long_left
                                              y[i] = t + very_long_right
```

Only operands that are evaluated anyway move, never the right of ``&&`` or an arm of ``?:``; a wide
``?:`` or ``&&`` becomes an ``if``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hipify_tile.ir.expr import (
    Const,
    Expr,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
    children,
    map_children,
    walk,
)
from hipify_tile.ir.stmt import (
    Assign,
    AtomicRMW,
    Block,
    If,
    Loop,
    Stmt,
    Store,
    map_bodies,
    map_exprs,
)
from hipify_tile.ir.types import BOOL, ScalarType
from hipify_tile.rewriter.emit.expressions import ExpressionPrinter
from hipify_tile.rewriter.emit.statements import WIDTH
from hipify_tile.rewriter.names import Namer

_INDENT = 4


@dataclass(slots=True)
class Outliner:
    """Splits statements wider than ``WIDTH``; new variables are appended to ``locals``."""

    printer: ExpressionPrinter
    namer: Namer
    locals: list[tuple[str, ScalarType]]

    def body(self, body: tuple[Stmt, ...], depth: int) -> tuple[Stmt, ...]:
        """Rewrite a statement list printed at ``depth``."""
        out: list[Stmt] = []
        for stmt in body:
            out += self.stmt(stmt, depth)
        return tuple(out)

    def stmt(self, stmt: Stmt, depth: int) -> list[Stmt]:
        """Rewrite one statement."""
        pre: list[Stmt] = []
        room = WIDTH - _INDENT * depth
        match stmt:
            case Assign() | Store() | AtomicRMW() | If():
                while self.width(stmt) > room:
                    lazy = _as_if(stmt)
                    if lazy is not None:
                        return [*pre, *self.body(lazy, depth)]
                    shorter = self.shorten(stmt, room, pre)
                    if shorter is None:
                        break
                    stmt = shorter
            case _:
                pass
        match stmt:
            case Loop(axes=axes):
                inner = depth + len(axes)
            case Block():
                inner = depth
            case _:
                inner = depth + 1
        return [*pre, map_bodies(stmt, lambda b: self.body(b, inner))]

    def width(self, stmt: Stmt) -> int:
        """Estimate the width of a statement's (first) line, never too low."""
        text = self.printer
        match stmt:
            case Assign(target=target, value=value):
                return len(target) + 3 + len(text.value(value))
            case Store(buffer=buffer, indices=indices, value=value):
                place = len(text.name(buffer)) + len(text.index(indices)) + 2
                return place + 3 + len(text.value(value))
            case AtomicRMW():
                parts = [text.index(stmt.indices), *map(text.text, stmt.operands)]
                return sum(map(len, parts)) + 64
            case If(cond=cond):
                return len(text.text(cond)) + 6
            case _:
                return 0

    def shorten(self, stmt: Stmt, room: int, pre: list[Stmt]) -> Stmt | None:
        """Move the widest operand that fits a line of its own in front of ``stmt``."""
        best: Expr | None = None
        lazy: Expr | None = None
        widest = 12
        for expr in self._own(stmt):
            for node in self._movable(expr, top=not isinstance(stmt, Assign)):
                width = len(self.printer.text(node))
                if widest < width <= room - 8:
                    best, widest = node, width
                elif isinstance(node, Select | Logical) and width > room - 8:
                    lazy = lazy or node
        best = best or lazy
        if best is None:
            return None
        var = Var(self.namer.fresh("t"), best.type)
        self.locals.append((var.name, var.type))
        self.printer.names = {**self.printer.names, var.name: var.name}
        moved = best
        pre += self.stmt(Assign(var.name, moved), (WIDTH - room) // _INDENT)
        return map_exprs(stmt, lambda e: _replaced(e, moved, var))

    def _own(self, stmt: Stmt) -> tuple[Expr, ...]:
        match stmt:
            case Assign(value=value):
                return (value,)
            case Store(indices=indices, value=value):
                return (*indices, value)
            case AtomicRMW(indices=indices, operands=operands):
                return (*indices, *operands)
            case If(cond=cond):
                return (cond,)
            case _:
                return ()

    def _movable(self, expr: Expr, *, top: bool) -> Iterator[Expr]:
        if top and not isinstance(expr, Const | Var):
            yield expr
        match expr:
            case Logical(lhs=first) | Select(cond=first):
                yield from self._movable(first, top=True)
            case _:
                for child in children(expr):
                    yield from self._movable(child, top=True)


def _as_if(stmt: Stmt) -> tuple[Stmt, ...] | None:
    """Spell the assignment of a ``?:`` or ``&&`` as an ``if``; None for anything else."""
    match stmt:
        case Assign(target=name, value=Select(cond=cond, then=then, orelse=orelse)):
            return (If(cond, (Assign(name, then),), (Assign(name, orelse),)),)
        case Store(value=Select(cond=cond, then=then, orelse=orelse)):
            return (If(cond, (replace(stmt, value=then),), (replace(stmt, value=orelse),)),)
        case Assign(target=name, value=Logical(op=op, lhs=lhs, rhs=rhs)) if all(
            e != Var(name, BOOL) for e in walk(rhs)
        ):
            go: Expr = Var(name, BOOL)
            go = go if op is LogicalOp.AND else Unary(UnaryOp.NOT, go, BOOL)
            return (Assign(name, lhs), If(go, (Assign(name, rhs),)))
        case _:
            return None


def _replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    """Replace the first occurrence of the node ``old``, found by identity."""
    if expr is old:
        return new
    return map_children(expr, lambda e: _replaced(e, old, new))
