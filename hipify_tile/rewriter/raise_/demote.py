"""Demotion of unsigned locals to int32 where interval analysis shows that no value differs.

```
unsigned tid = threadIdx.x;  if (tid < 16u)   →   int tid = tx;  if (tid < 16)
```

TileLang's arithmetic on unsigned integers has to be kept away from its simplifier (see
``emit/materialize.py``); the same values as int32 need no care and read as a person would write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hipify_tile.analyzer.value_ranges import Interval, interval, local_ranges
from hipify_tile.ir.expr import Cast, Expr, Var
from hipify_tile.ir.stmt import Assign, AtomicRMW, For, Stmt, map_bodies, walk_stmts
from hipify_tile.ir.types import I32, U32, ScalarType
from hipify_tile.rewriter.raise_.launch_axes import map_body

Locals = tuple[tuple[str, ScalarType], ...]
_LIMIT = 2**31 - 1


def demote_unsigned(
    body: tuple[Stmt, ...], locals_: Locals, known: Mapping[str, Interval]
) -> tuple[tuple[Stmt, ...], Locals, dict[str, Interval]]:
    """Return body and locals with small uint32 locals as int32, and all intervals found.

    ``known`` bounds the int32 names of the launch. An int32 local that may be negative gets no
    interval in the result, whose entries are all non-negative.
    """
    ranges = local_ranges(body, locals_, known)
    kept_unsigned = {s.result for s in walk_stmts(body) if isinstance(s, AtomicRMW)}
    loops = [s for s in walk_stmts(body) if isinstance(s, For)]
    counted = {s.var.name: s.var.type for s in loops}
    kept_unsigned |= {s.var.name for s in loops if interval(s.stop, ranges)[1] > _LIMIT}
    small = {
        name
        for name, type_ in {**dict(locals_), **counted}.items()
        if type_ == U32
        and name not in kept_unsigned
        and name in ranges
        and ranges[name][1] <= _LIMIT
    }

    def read(expr: Expr) -> Expr:
        match expr:
            case Var(name=name) if name in small:
                return Cast(Var(name, I32, expr.span), U32, expr.span)
            case _:
                return expr

    def written(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(_retyped(map_bodies(s, written), small) for s in stmts)

    types = tuple((n, I32 if n in small else t) for n, t in locals_)
    int32 = {n for n, t in types if t == I32} | {n for n, t in counted.items() if t == I32} | small
    useful = {n: r for n, r in ranges.items() if r[0] >= 0 and (n in int32 or n in known)}
    return written(map_body(body, read)), types, useful


def _retyped(stmt: Stmt, small: set[str]) -> Stmt:
    match stmt:
        case Assign(target=name, value=value) if name in small:
            return replace(stmt, value=Cast(value, I32, value.span))
        case For(var=var, start=start, stop=stop) if var.name in small:
            start, stop = (Cast(e, I32, e.span) for e in (start, stop))
            return replace(stmt, var=replace(var, type=I32), start=start, stop=stop)
        case _:
            return stmt
