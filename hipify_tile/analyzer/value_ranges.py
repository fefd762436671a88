"""Interval analysis of integer values: which values an integer local or expression can take.

Flow-insensitive: a local's interval is the union over all its assignments, found by iteration with
widening to the type's range. Names without an entry (parameters) and loads have their type's range.

```
s = blockDim.x / 2; while (s > 0) { …; s >>= 1; }   →   s in [0, 512]
```
"""

from __future__ import annotations

from collections.abc import Mapping

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    Select,
    Unary,
    UnaryOp,
    Var,
    children,
    walk,
)
from hipify_tile.ir.stmt import Assign, AtomicRMW, For, Stmt, exprs, walk_stmts
from hipify_tile.ir.types import BOOL, Kind, ScalarType

Interval = tuple[int, int]
_ROUNDS = 8
"""Iterations before a bound that still moves is widened."""


def type_range(type_: ScalarType) -> Interval:
    """Return the least and greatest value of an integer type or ``bool``."""
    if type_ == BOOL:
        return 0, 1
    if type_.kind is Kind.UINT:
        return 0, (1 << type_.bits) - 1
    return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1


def interval(expr: Expr, known: Mapping[str, Interval]) -> Interval:
    """Return bounds of an integer expression's value, after any wrap-around."""
    limits = type_range(expr.type)
    exact = _unwrapped(expr, known)
    return exact if exact is not None and _within(exact, limits) else limits


def no_overflow(expr: Expr, known: Mapping[str, Interval]) -> Interval:
    """Return bounds of a signed expression's value, taking that its operation does not overflow."""
    low, high = type_range(expr.type)
    exact = _unwrapped(expr, known) or (low, high)
    return max(low, exact[0]), min(high, exact[1])


def may_wrap(expr: Expr, known: Mapping[str, Interval], limits: Interval | None = None) -> bool:
    """Whether ``expr`` or a part may leave its type's range, or ``limits`` where given.

    A part that is no integer arithmetic (a load, a conversion from a float) is a value of its type.
    """
    exact = _unwrapped(expr, known) or type_range(expr.type)
    inside = _within(exact, limits or type_range(expr.type))
    parts = (expr.lhs, expr.rhs) if isinstance(expr, Binary) else children(expr)
    return not inside or any(may_wrap(p, known, limits) for p in parts if p.type.is_integer)


def local_ranges(
    body: tuple[Stmt, ...],
    locals_: tuple[tuple[str, ScalarType], ...],
    known: Mapping[str, Interval],
) -> dict[str, Interval]:
    """Return ``known`` extended by an interval for each integer local that ``body`` assigns."""
    types = {name: type_ for name, type_ in locals_ if type_.is_integer}
    statements = list(walk_stmts(body))
    types |= {s.var.name: s.var.type for s in statements if isinstance(s, For)}
    defined = {name for s in statements for name in _targets(s)} & set(types)
    found: dict[str, Interval] = {}
    # A bound that still moves after _ROUNDS jumps to its type's limit, so each local changes at
    # most once more.
    for round_ in range(_ROUNDS + len(types) + 2):
        before = dict(found)
        for stmt in statements:
            pending = defined - set(found)
            if any(isinstance(e, Var) and e.name in pending for x in exprs(stmt) for e in walk(x)):
                continue
            for name, value in _definitions(stmt, {**known, **found}, types):
                old = found.get(name, value)
                new = min(old[0], value[0]), max(old[1], value[1])
                if round_ >= _ROUNDS and new != old:
                    new = type_range(types[name])
                found[name] = new
        if found == before:
            return {**known, **found}
    return {**known, **{name: type_range(types[name]) for name in found}}


def _targets(stmt: Stmt) -> tuple[str, ...]:
    match stmt:
        case Assign(target=name) | AtomicRMW(result=str(name)):
            return (name,)
        case For(var=var):
            return (var.name,)
        case _:
            return ()


def _definitions(
    stmt: Stmt, known: Mapping[str, Interval], types: Mapping[str, ScalarType]
) -> list[tuple[str, Interval]]:
    match stmt:
        case Assign(target=name, value=value) if name in types:
            return [(name, interval(value, known))]
        case AtomicRMW(result=str(name)) if name in types:
            return [(name, type_range(types[name]))]
        case For(var=var, start=start, stop=stop, step=step):
            first, last = interval(start, known), interval(stop, known)
            low, high = (first[0], last[1] - 1) if step > 0 else (last[0] + 1, first[1])
            span = min(low, first[0]), max(high, first[1])
            limits = type_range(var.type)
            return [(var.name, (max(span[0], limits[0]), min(span[1], limits[1])))]
        case _:
            return []


def _within(value: Interval, limits: Interval) -> bool:
    return limits[0] <= value[0] and value[1] <= limits[1]


def _unwrapped(expr: Expr, known: Mapping[str, Interval]) -> Interval | None:
    """Bound the mathematical value, before it is reduced to the type; None if nothing is known."""
    match expr:
        case Const(value=value):
            return int(value), int(value)
        case Var(name=name) if name in known:
            return known[name]
        case Cast(operand=inner) if inner.type.is_integer or inner.type == BOOL:
            return interval(inner, known)
        case Select(then=then, orelse=orelse):
            one, two = interval(then, known), interval(orelse, known)
            return min(one[0], two[0]), max(one[1], two[1])
        case Unary(op=UnaryOp.NEG, operand=inner):
            low, high = interval(inner, known)
            return -high, -low
        case Binary(op=op, lhs=lhs, rhs=rhs):
            return _binary(op, interval(lhs, known), interval(rhs, known))
        case _:
            return None


def _binary(op: BinaryOp, a: Interval, b: Interval) -> Interval | None:
    match op:
        case BinaryOp.ADD:
            return a[0] + b[0], a[1] + b[1]
        case BinaryOp.SUB:
            return a[0] - b[1], a[1] - b[0]
        case BinaryOp.MUL:
            ends = [x * y for x in a for y in b]
            return min(ends), max(ends)
        case _ if a[0] < 0 or b[0] < 0:
            return None
        case BinaryOp.DIV if b[0] > 0:
            return a[0] // b[1], a[1] // b[0]
        case BinaryOp.REM if b[0] > 0:
            return 0, min(a[1], b[1] - 1)
        case BinaryOp.SHR if b[1] < 32:
            return a[0] >> b[1], a[1] >> b[0]
        case BinaryOp.SHL if b[1] < 32:
            return a[0] << b[0], a[1] << b[1]
        case BinaryOp.AND:
            return 0, min(a[1], b[1])
        case BinaryOp.OR | BinaryOp.XOR:
            return 0, (1 << max(a[1], b[1]).bit_length()) - 1
        case _:
            return None
