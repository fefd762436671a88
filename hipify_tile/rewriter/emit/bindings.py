"""Locals that can be plain Python bindings instead of ``T.alloc_var``.

``i = bx * block_x + tx`` is a value, not a variable, when it is a sum or product assigned once at
the top of a region or kernel, reads nothing that changes, and all its uses follow.
"""

from __future__ import annotations

from hipify_tile.ir.expr import Binary, BinaryOp, Const, Expr, Var, walk
from hipify_tile.ir.stmt import (
    Assign,
    AtomicRMW,
    Block,
    For,
    If,
    Loop,
    Stmt,
    While,
    bodies,
    exprs,
    walk_stmts,
)
from hipify_tile.ir.types import I32, ScalarType

_PLAIN = (BinaryOp.ADD, BinaryOp.MUL)


def bindings(
    body: tuple[Stmt, ...], locals_: tuple[tuple[str, ScalarType], ...], immutable: set[str]
) -> frozenset[str]:
    """Return the locals to bind; ``immutable`` are launch symbols and scalar parameters."""
    counts: dict[str, int] = {}
    for stmt in walk_stmts(body):
        match stmt:
            case Assign(target=name):
                counts[name] = counts.get(name, 0) + 1
            case AtomicRMW(result=str(name)):
                counts[name] = counts.get(name, 0) + 2
            case For(var=var):
                counts[var.name] = counts.get(var.name, 0) + 2
            case _:
                pass
    types = dict(locals_)
    uses = _use_counts(body)
    bound: set[str] = set()
    _visit(body, counts, types, uses, immutable, bound)
    return frozenset(bound)


def _visit(
    body: tuple[Stmt, ...],
    counts: dict[str, int],
    types: dict[str, ScalarType],
    uses: dict[str, int],
    visible: set[str],
    bound: set[str],
) -> None:
    visible = set(visible)
    for position, stmt in enumerate(body):
        match stmt:
            case Assign(target=name, value=value) if (
                counts[name] == 1
                and types.get(name) == I32
                and isinstance(value, Binary)
                and _is_plain(value, visible)
            ):
                if _use_counts(body[position + 1 :]).get(name, 0) == uses.get(name, 0):
                    visible.add(name)
                    bound.add(name)
            case Loop(axes=axes, body=inner):
                _visit(inner, counts, types, uses, visible | {a.var.name for a in axes}, bound)
            case For() | While() | Block() | If():
                for nested in bodies(stmt):
                    if any(isinstance(s, Loop) for s in walk_stmts(nested)):
                        _visit(nested, counts, types, uses, visible, bound)
            case _:
                pass


def _is_plain(value: Expr, visible: set[str]) -> bool:
    """Whether ``value`` only adds and multiplies launch symbols, parameters and other bindings."""
    match value:
        case Var(name=name):
            return name in visible and value.type == I32
        case Const(value=number, type=type_):
            return type_ == I32 and number >= 0
        case Binary(op=op, lhs=lhs, rhs=rhs, type=type_) if op in _PLAIN and type_ == I32:
            return _is_plain(lhs, visible) and _is_plain(rhs, visible)
        case _:
            return False


def _use_counts(body: tuple[Stmt, ...]) -> dict[str, int]:
    uses: dict[str, int] = {}
    for stmt in walk_stmts(body):
        for expr in exprs(stmt):
            for node in walk(expr):
                if isinstance(node, Var):
                    uses[node.name] = uses.get(node.name, 0) + 1
    return uses
