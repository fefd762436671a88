"""Passes over loop bodies of TileLang's C output that keep what each iteration does.

- ``without_declarations``: ``int32_t v = e;`` inside loops → a variable of the function;
- ``unrolled``: loops of few iterations with constant bounds are written out;
- ``merged``: ``if (c) a; if (c) b;`` → ``if (c) { a; b; }``;
- ``propagated``: integers computed from loop variables and constants replace their names;
- ``unfused``: ``i >> 8`` and ``i & 255`` of one loop become the variables of two;
- ``privates``: which variables an iteration writes before it reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from hipify_tile.build import c_tree as t
from hipify_tile.build.c_affine import INT32, INT64, is_invariant, linear, literal, number, type_of
from hipify_tile.build.c_tree import (
    Binary,
    C,
    Cast,
    Declare,
    For,
    If,
    Name,
    S,
    Set,
    UnreadableError,
)
from hipify_tile.build.vector_loops import Scope

_UNROLL_TRIPS, _UNROLL_STATEMENTS = 32, 256
_LARGEST = 128
_INTEGERS = frozenset((INT32, INT64, "uint32_t", "uint64_t"))


def without_declarations(body: tuple[S, ...], scope: Scope) -> tuple[S, ...]:
    """Move scalar declarations out; raises ``UnreadableError`` for arrays and clashes."""
    out: list[S] = []
    for stmt in body:
        if isinstance(stmt, Declare):
            if stmt.size or scope.types.get(stmt.name, stmt.type) != stmt.type:
                raise UnreadableError(stmt.name)
            scope.types[stmt.name] = stmt.type
            if stmt.value is not None:
                out.append(Set(Name(stmt.name), stmt.value))
        else:
            out.append(_map_bodies(stmt, lambda b: without_declarations(b, scope)))
    return tuple(out)


def unrolled(body: tuple[S, ...]) -> tuple[S, ...]:
    """Write short constant loops out."""
    out: list[S] = []
    for stmt in body:
        stmt = _map_bodies(stmt, unrolled)
        if isinstance(stmt, For):
            low, high = number(stmt.low), number(stmt.high)
            size = sum(1 for _ in t.statements(stmt.body))
            if low is not None and high is not None and not _leaves(stmt.body):
                trips = max(high - low, 0)
                if trips <= _UNROLL_TRIPS and trips * size <= _UNROLL_STATEMENTS:
                    for i in range(low, low + trips):
                        out += t.substituted(stmt.body, {stmt.var: literal(i)})
                    continue
        out.append(stmt)
    return tuple(out)


def _leaves(body: tuple[S, ...]) -> bool:
    return any(isinstance(s, t.Break) for s in t.statements(body))


def merged(body: tuple[S, ...]) -> tuple[S, ...]:
    """Join neighbouring ``if``s of one condition that the first does not change."""
    out: list[S] = []
    for stmt in body:
        stmt = _map_bodies(stmt, merged)
        last = out[-1] if out else None
        if (
            isinstance(stmt, If)
            and isinstance(last, If)
            and stmt.cond == last.cond
            and not t.mentioned(stmt.cond) & t.written(last.then + last.orelse)
            and not any(isinstance(e, t.Index | t.Call) for e in t.walk(stmt.cond))
            and not any(isinstance(s, t.Break) for s in (*last.then, *last.orelse))
        ):
            out[-1] = If(
                last.cond, merged(last.then + stmt.then), merged(last.orelse + stmt.orelse)
            )
        else:
            out.append(stmt)
    return tuple(out)


def propagated(body: tuple[S, ...], private: AbstractSet[str], scope: Scope) -> tuple[S, ...]:
    """Replace private integers by what they are; variables that nothing reads then disappear."""
    changed, _ = _propagate(body, {}, private, t.written(body) & private, scope)
    return _live(changed, private)


def _propagate(
    body: tuple[S, ...],
    known: dict[str, C],
    private: AbstractSet[str],
    changing: AbstractSet[str],
    scope: Scope,
) -> tuple[tuple[S, ...], dict[str, C]]:
    out: list[S] = []
    for stmt in body:
        match stmt:
            case Set(place=Name(name=name), value=value) if name in private:
                value = t.substitute(value, known)
                known = {k: v for k, v in known.items() if k != name and name not in t.mentioned(v)}
                kind, given = scope.types.get(name, ""), type_of(value, scope.types)
                if (
                    ((kind == given and kind in _INTEGERS) or {kind, given} == {INT32, INT64})
                    and is_invariant(value, changing)
                    and sum(1 for _ in t.walk(value)) <= _LARGEST
                ):
                    known = {**known, name: value if kind == given else Cast(kind, value)}
                out.append(Set(Name(name), value))
            case Set(place=place, value=value):
                out.append(Set(_place(place, known), t.substitute(value, known)))
            case If(cond=cond, then=then, orelse=orelse):
                cond = t.substitute(cond, known)
                then, after = _propagate(then, known, private, changing, scope)
                orelse, otherwise = _propagate(orelse, known, private, changing, scope)
                out.append(If(cond, then, orelse))
                known = {k: v for k, v in after.items() if otherwise.get(k) == v}
            case For() | t.While():
                (inner,) = t.bodies(stmt)
                own = t.written(inner)
                low_known = known
                known = {
                    k: v for k, v in known.items() if k not in own and not t.mentioned(v) & own
                }
                inner, _ = _propagate(inner, known, private, changing, scope)
                if isinstance(stmt, For):
                    low, high = (t.substitute(e, low_known) for e in (stmt.low, stmt.high))
                    # The upper bound is evaluated again each time round.
                    high = t.substitute(stmt.high, known)
                    out.append(For(stmt.var, low, high, inner))
                else:
                    out.append(t.While(inner))
            case _:
                out += t.substituted((stmt,), known)
    return tuple(out), known


def _place(place: C, known: dict[str, C]) -> C:
    return t.substitute(place, known) if isinstance(place, t.Index) else place


def _live(body: tuple[S, ...], private: AbstractSet[str]) -> tuple[S, ...]:
    """Without assignments to private variables that nothing reads."""
    while True:
        read: set[str] = set()
        for stmt in t.statements(body):
            for expr in t.expressions(stmt):
                if not (isinstance(stmt, Set) and expr is stmt.place and isinstance(expr, Name)):
                    read |= t.mentioned(expr)
        found = _drop(body, private - read)
        if found == body:
            return body
        body = found


def _drop(body: tuple[S, ...], dead: AbstractSet[str]) -> tuple[S, ...]:
    out: list[S] = []
    for stmt in body:
        unread = isinstance(stmt, Set) and isinstance(stmt.place, Name) and stmt.place.name in dead
        if unread and not any(isinstance(e, t.Call) for e in t.walk(t.expressions(stmt)[0])):
            continue
        stmt = _map_bodies(stmt, lambda b: _drop(b, dead))
        if isinstance(stmt, If) and not stmt.then and not stmt.orelse:
            continue
        out.append(stmt)
    return tuple(out)


def unfused(loop: For) -> For | None:
    """Split a loop over ``i`` whose body uses ``i >> k`` and ``i & (2^k - 1)`` only."""
    extent = number(loop.high)
    if number(loop.low) != 0 or extent is None:
        return None
    widths: set[int] = set()
    for stmt in t.statements(loop.body):
        for expr in t.expressions(stmt):
            if not _widths(expr, loop.var, widths):
                return None
    if len(widths) != 1:
        return None
    width = widths.pop()
    if width < 2 or extent % width or extent // width < 2:
        return None
    row, column = f"{loop.var}_row", f"{loop.var}_column"
    if {row, column} & t.names((loop,)):
        return None

    def change(expr: C) -> C:
        part = _part(expr, loop.var)
        if part is None:
            return t.rebuild(expr, change)
        wide, which, _ = part
        name = Name(row if which else column)
        return Cast(INT64, name) if wide else name

    inner = For(column, t.Number("0"), t.Number(str(width)), t.map_expressions(loop.body, change))
    return For(row, t.Number("0"), t.Number(str(extent // width)), (inner,))


def _part(expr: C, var: str) -> tuple[bool, bool, int] | None:
    """Of ``i >> k`` or ``i & m``: whether in 64 bits, whether the row, and the width."""
    if not isinstance(expr, Binary):
        return None
    wide = expr.lhs == Cast(INT64, Name(var))
    value = number(expr.rhs)
    if (not wide and expr.lhs != Name(var)) or value is None or value < 0:
        return None
    match expr.op:
        case ">>" if value < 31:
            return wide, True, 1 << value
        case "/" if value > 0:
            return wide, True, value
        case "&" if value & (value + 1) == 0:
            return wide, False, value + 1
        case "%" if value > 0:
            return wide, False, value
        case _:
            return None


def _widths(expr: C, var: str, found: set[int]) -> bool:
    part = _part(expr, var)
    if part is not None:
        found.add(part[2])
        return True
    return expr != Name(var) and all(_widths(e, var, found) for e in t.parts(expr))


def sums_outside(body: tuple[S, ...], scope: Scope, arrays: AbstractSet[str]) -> tuple[S, ...]:
    """``for (j) for (k) c[j] += …``  →  ``for (k) for (j) c[j] += …``; each sum keeps its order.

    Only where ``c`` is one of the local ``arrays``, its elements differ between all ``j``, and what
    is added does not read it.
    """
    out: list[S] = []
    for stmt in body:
        stmt = _map_bodies(stmt, lambda b: sums_outside(b, scope, arrays))
        match stmt:
            case For(
                var=j,
                low=low,
                high=high,
                body=(
                    For(
                        var=k,
                        body=(
                            Set(
                                place=t.Index(array=array, index=index) as place,
                                value=Binary(op="+", lhs=first, rhs=added),
                            ),
                        ),
                    ) as inner,
                ),
            ) if array in arrays and first == place and _reads_only(added, array):
                types = {**scope.types, j: INT32, k: INT32}
                found = linear(index, j, types, {j})
                bounds = t.mentioned(inner.low) | t.mentioned(inner.high)
                if (
                    k not in t.mentioned(index)
                    and found is not None
                    and found.step == 1
                    and j not in bounds
                    and all(is_invariant(e, {j, k}) for e in (inner.low, inner.high, low, high))
                ):
                    out.append(For(k, inner.low, inner.high, (For(j, low, high, inner.body),)))
                    continue
            case _:
                pass
        out.append(stmt)
    return tuple(out)


def _reads_only(expr: C, array: str) -> bool:
    return array not in t.mentioned(expr) and not any(isinstance(e, t.Call) for e in t.walk(expr))


def breaks_out(body: tuple[S, ...]) -> bool:
    """Whether a ``break`` leaves the loop that ``body`` is of."""
    return any(
        isinstance(s, t.Break) or (isinstance(s, If) and breaks_out(s.then + s.orelse))
        for s in body
    )


def privates(body: tuple[S, ...]) -> frozenset[str] | None:
    """The variables that ``body`` writes, if none is read before; None if one is."""
    variables = {
        s.place.name for s in t.statements(body) if isinstance(s, Set) and isinstance(s.place, Name)
    }
    for stmt in t.statements(body):
        for expr in t.expressions(stmt):
            if any(isinstance(e, t.Address) and isinstance(e.place, Name) for e in t.walk(expr)):
                return None
    return frozenset(variables) if _defined(body, set(), variables) is not None else None


def _defined(body: tuple[S, ...], known: set[str], variables: set[str]) -> set[str] | None:
    """Variables written on every way through ``body``; None where one is read before."""
    known = set(known)
    for stmt in body:
        for expr in t.expressions(stmt):
            place = isinstance(stmt, Set) and expr is stmt.place and isinstance(expr, Name)
            if not place and (t.mentioned(expr) & variables) - known:
                return None
        match stmt:
            case Set(place=Name(name=name)):
                known.add(name)
            case If(then=then, orelse=orelse):
                ways = [_defined(b, known, variables) for b in (then, orelse)]
                if ways[0] is None or ways[1] is None:
                    return None
                known |= ways[0] & ways[1]
            case For() | t.While():
                if _defined(t.bodies(stmt)[0], known, variables) is None:
                    return None
            case _:
                pass
    return known


@dataclass(frozen=True, slots=True)
class Counted:
    """A body whose loops are counted, under ``conditions``; ``small`` values must fit an int32."""

    body: tuple[S, ...]
    conditions: tuple[C, ...] = ()
    small: tuple[C, ...] = ()


def counted(body: tuple[S, ...], private: AbstractSet[str], var: str, scope: Scope) -> Counted:
    """``v = a; while (v < end) { …; v += step; }``  →  ``for (k < (end - a + step - 1) / step)``.

    Only at the outermost level of ``body``, the body of a loop over ``var``.
    """
    out: list[S] = []
    conditions: list[C] = []
    small: list[C] = []
    changing = t.written(body) | {var}
    for at, stmt in enumerate(body):
        found = _strided(stmt, private)
        first = _last_value(tuple(out), found[0]) if found else None
        if found is None or first is None or found[0] in t.names(body[at + 1 :]):
            out.append(stmt)
            continue
        name, end, step, inner = found
        if not all(is_invariant(e, changing) for e in (end, step)):
            out.append(stmt)
            continue
        if linear(first, var, scope.types, changing) is None or type_of(end, scope.types) != INT32:
            out.append(stmt)
            continue
        count = scope.fresh("k")
        scope.types[count] = INT32
        wide_end, wide_step = Cast(INT64, end), Cast(INT64, step)
        distance = Binary("-", wide_end, Cast(INT64, first))
        above = Binary("-", wide_step, Cast(INT64, t.Number("1")))
        trips = t.Select(
            Binary("<", Cast(INT64, t.Number("0")), distance),
            Binary("/", Binary("+", distance, above), wide_step),
            t.Number("0"),
        )
        value = Binary("+", first, Binary("*", Name(count), step))
        inner = t.substituted(inner, {name: value})
        out.append(For(count, t.Number("0"), Cast(INT32, trips), inner))
        conditions.append(Binary("<", t.Number("0"), step))
        conditions.append(
            Binary("<=", Binary("+", wide_end, wide_step), Cast(INT64, t.Number("2147483647")))
        )
        small.append(distance)
    return Counted(tuple(out), tuple(conditions), tuple(small))


def _last_value(body: tuple[S, ...], name: str) -> C | None:
    """What ``name`` is set to by the last statement that writes it; None where that is no Set."""
    for stmt in reversed(body):
        if isinstance(stmt, Set) and stmt.place == Name(name):
            return stmt.value
        if name in t.written((stmt,)):
            return None
    return None


def _strided(stmt: S, private: AbstractSet[str]) -> tuple[str, C, C, tuple[S, ...]] | None:
    """Of ``while (v < end) { body; v = v + step; }``: v, end, step, body."""
    match stmt:
        case t.While(
            body=(
                If(
                    cond=t.Unary(op="!", operand=Binary(op="<", lhs=Name(name=name), rhs=end)),
                    then=(t.Break(),),
                    orelse=(),
                ),
                *inner,
                Set(place=Name(name=again), value=Binary(op="+", lhs=Name(name=last), rhs=step)),
            )
        ) if name == again == last and name in private:
            body = tuple(inner)
            if name in t.written(body) or any(isinstance(s, t.Break) for s in t.statements(body)):
                return None
            return name, end, step, body
        case _:
            return None


def has_loop(body: tuple[S, ...]) -> bool:
    """Whether a loop is among the statements."""
    return any(isinstance(s, For | t.While) for s in t.statements(body))


def _map_bodies(stmt: S, change: Callable[[tuple[S, ...]], tuple[S, ...]]) -> S:
    match stmt:
        case If(then=then, orelse=orelse):
            return replace(stmt, then=change(then), orelse=change(orelse))
        case For(body=body) | t.While(body=body):
            return replace(stmt, body=change(body))
        case _:
            return stmt
