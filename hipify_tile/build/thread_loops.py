"""A block's body rewritten for a compiler that vectorises: the passes, put together.

- loops over threads (``for tz, ty, tx`` of level loop) and innermost loops of level tile become
  segmented loops (``vector_loops.py``);
- a kernel without barriers and shared memory runs neighbouring blocks' threads as one loop:
  ``for bx, for tx  →  for (x = first; …)``;
- a loop inside a thread loop changes places with it, a strip of threads at a time
  (``strips.py``).

The last two let threads that no barrier separates run interleaved, as a GPU does. The caller says
whether the kernel allows it: its atomic operations must not return values that matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from hipify_tile.build import c_tree as t
from hipify_tile.build.c_affine import INT32, INT64, is_invariant, type_of
from hipify_tile.build.c_tree import Binary, C, Cast, For, Name, Number, S, UnreadableError
from hipify_tile.build.loop_passes import (
    Counted,
    breaks_out,
    counted,
    has_loop,
    merged,
    privates,
    propagated,
    sums_outside,
    unfused,
    unrolled,
    without_declarations,
)
from hipify_tile.build.strips import NotStrippedError, strips
from hipify_tile.build.vector_loops import EXTREMES, Scope, segmented

_MOST_AXES = 3
_INTEGERS = frozenset((INT32, INT64, "uint32_t", "uint64_t"))
_GUESSES = {
    "block_x": 64, "block_y": 8, "block_z": 1, "grid_x": 4096, "grid_y": 4096, "grid_z": 4096,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Body:
    """Lines of a block's body, declarations in front of it.

    ``joined`` is "" or the extent of a block in x: then the lines run blocks [bx, tm_bx_end).
    """

    lines: tuple[str, ...]
    locals: tuple[str, ...]
    joined: str = ""


@dataclass(slots=True)
class _Rewriter:
    scope: Scope
    threads: bool
    interleave: bool
    guesses: dict[str, int]
    owned: frozenset[str]
    skipped: list[tuple[S, ...]]
    private: set[str] = field(default_factory=set)

    def lines(self, body: tuple[S, ...], pad: str = "") -> Iterator[str]:
        for stmt in body:
            nest = _nest(stmt) if self.threads else None
            if nest is not None and nest[2].body in self.skipped:
                yield from t.lines((stmt,), pad)
            elif nest is not None:
                yield from (pad + line for line in self.nest(*nest))
            elif _is_innermost(stmt, self.threads) and stmt.body not in self.skipped:
                yield from (pad + line for line in self.innermost(stmt))
            elif isinstance(stmt, For):
                yield pad + t.head(stmt.var, t.text(stmt.low), t.text(stmt.high))
                yield from self.lines(stmt.body, pad + "  ")
                yield f"{pad}}}"
            elif isinstance(stmt, t.While):
                yield f"{pad}while (1) {{"
                yield from self.lines(stmt.body, pad + "  ")
                yield f"{pad}}}"
            elif isinstance(stmt, t.If):
                yield f"{pad}if ({t.text(stmt.cond)}) {{"
                yield from self.lines(stmt.then, pad + "  ")
                yield f"{pad}}} else {{"
                yield from self.lines(stmt.orelse, pad + "  ")
                yield f"{pad}}}"
            else:
                yield from t.lines((stmt,), pad)

    def nest(self, z: For, y: For, x: For) -> Iterator[str]:
        for indent, loop in enumerate((z, y)):
            yield "  " * indent + t.head(loop.var, "0", t.text(loop.high))
        for line in self.threads_loop(x.var, Number("0"), x.high, x.body, (z.var, y.var)):
            yield f"    {line}"
        yield from ("  }", "}")

    def threads_loop(
        self, var: str, low: C, high: C, body: tuple[S, ...], outer: tuple[str, ...]
    ) -> list[str]:
        body = self.prepared(body)
        values = {
            **self.guesses,
            var: 20 if number_is_zero(low) else 2048,
            **dict.fromkeys(outer, 3),
        }
        inner, counts = None, Counted(body)
        if has_loop(body):
            if not self.interleave or self.owned & t.names(body):
                return self.plain(var, low, high, body)
            counts = counted(body, self.private, var, self.scope)
            inner = lambda b: strips(b, self.scope, self.private)  # noqa: E731
        try:
            return segmented(
                var, low, high, body,
                scope=self.scope, private=self.private, values=values, inner=inner,
                special=counts.body, conditions=counts.conditions, small=counts.small,
            )  # fmt: skip
        except NotStrippedError:
            return self.plain(var, low, high, body)

    def plain(self, var: str, low: C, high: C, body: tuple[S, ...]) -> list[str]:
        lines = [t.head(var, t.text(low), t.text(high))]
        lines += [f"  {self.scope.types[n]} {n};" for n in sorted(t.names(body) & self.private)]
        return [*lines, *t.lines(body, "  "), "}"]

    def innermost(self, loop: For) -> list[str]:
        body = self.prepared(loop.body)
        if not is_invariant(loop.high, t.written(body)):
            return self.plain(loop.var, loop.low, loop.high, body)
        return segmented(
            loop.var, loop.low, loop.high, body,
            scope=self.scope, private=self.private, values={**self.guesses, loop.var: 20},
        )  # fmt: skip

    def prepared(self, body: tuple[S, ...]) -> tuple[S, ...]:
        return propagated(merged(body), self.private, self.scope)


def number_is_zero(expr: C) -> bool:
    """Whether ``expr`` is the literal 0."""
    return expr == Number("0")


def rewrite(
    lines: list[str],
    locals_: list[str],
    types: dict[str, str],
    *,
    threads: bool,
    interleave: bool,
    block: tuple[str, ...],
    per_thread: bool,
) -> Body | None:
    """Rewrite a block's body; None where it is not understood.

    ``locals_`` are declarations in front of it, ``types`` of the parameters. ``threads``: it is of
    level loop, with loops over block_z, block_y, block_x. ``interleave``: threads without a barrier
    between them may run interleaved. ``per_thread``: arrays may belong to one thread. ``block`` are
    the block's variables.
    """
    try:
        return _rewrite(lines, locals_, types, threads, interleave, block, per_thread)
    except UnreadableError:
        return None


def _rewrite(
    lines: list[str],
    locals_: list[str],
    types: dict[str, str],
    threads: bool,
    interleave: bool,
    block: tuple[str, ...],
    per_thread: bool,
) -> Body | None:
    declared = t.read_statements(locals_)
    body = t.read_statements(lines)
    scope = Scope({**types, **dict.fromkeys(block, "int32_t")}, block=block[0] if block else "")
    singles: set[str] = set()
    arrays: list[t.Declare] = []
    for stmt in declared:
        if not isinstance(stmt, t.Declare) or stmt.value is not None:
            raise UnreadableError("a local with a value")
        scope.types[stmt.name] = stmt.type
        if stmt.size == 1:
            singles.add(stmt.name)
        else:
            arrays.append(stmt)
    body = t.plain_variables(body, singles)
    body = t.map_expressions(without_declarations(body, scope), _extremes)
    if threads:
        body = _map_nests(body, lambda b: merged(unrolled(b)))
    else:
        body = merged(_unfused(body))
    for stmt in t.statements(body):
        if isinstance(stmt, For):
            scope.types[stmt.var] = "int32_t"
    if not threads:
        body = sums_outside(body, scope, {a.name for a in arrays})
    written_inside: set[str] = set()
    skipped: list[tuple[S, ...]] = []
    for candidate in _candidates(body, threads):
        own = None if breaks_out(candidate) else privates(candidate)
        if own is None:
            skipped.append(candidate)
        else:
            written_inside |= own
    outside = _outside(body, threads, skipped)
    if written_inside & outside:
        return None
    guesses = dict(_GUESSES)
    guesses.update({v: 8 for v in block})
    guesses.update({s.var: 3 for s in t.statements(body) if isinstance(s, For)})
    guesses.update({n: 64 for n in singles - written_inside})
    own_arrays = {a.name for a in arrays if not a.name.endswith("_all")} if per_thread else set()
    rewriter = _Rewriter(
        scope, threads, interleave, guesses, frozenset(own_arrays), skipped, written_inside
    )
    uniform = sorted(
        n for n in scope.types
        if n in outside and n not in types and n not in block and n not in {a.name for a in arrays}
        and not any(isinstance(s, For) and s.var == n for s in t.statements(body))
    )  # fmt: skip
    declarations = [f"{a.type} {a.name}[{a.size}];" for a in arrays]
    declarations += [f"{scope.types[n]} {n};" for n in uniform]
    if interleave and not arrays and not uniform and len(body) == 1 and block:
        joined = _joined(body[0], rewriter, block[0])
        if joined is not None:
            return joined
    return Body(tuple(rewriter.lines(body)), tuple(declarations))


def _extremes(expr: C) -> C:
    if isinstance(expr, t.Call) and expr.function in EXTREMES:
        return t.Call(f"tm_{expr.function}", tuple(map(_extremes, expr.args)))
    return t.rebuild(expr, _extremes)


def _nest(stmt: S) -> tuple[For, For, For] | None:
    loops: list[For] = []
    for axis in "zyx":
        if not isinstance(stmt, For) or stmt.high != Name(f"block_{axis}"):
            return None
        if stmt.low != Number("0"):
            return None
        loops.append(stmt)
        if axis != "x":
            if len(stmt.body) != 1:
                return None
            stmt = stmt.body[0]
    if any(_nest(s) is not None for s in t.statements(loops[2].body)):
        return None
    return loops[0], loops[1], loops[2]


def _map_nests(
    body: tuple[S, ...], change: Callable[[tuple[S, ...]], tuple[S, ...]]
) -> tuple[S, ...]:
    out: list[S] = []
    for stmt in body:
        nest = _nest(stmt)
        if nest is not None:
            z, y, x = nest
            inner = For(x.var, x.low, x.high, change(x.body))
            out.append(For(z.var, z.low, z.high, (For(y.var, y.low, y.high, (inner,)),)))
            continue
        match stmt:
            case t.If(cond=cond, then=then, orelse=orelse):
                out.append(t.If(cond, _map_nests(then, change), _map_nests(orelse, change)))
            case For(body=b):
                out.append(For(stmt.var, stmt.low, stmt.high, _map_nests(b, change)))
            case t.While(body=b):
                out.append(t.While(_map_nests(b, change)))
            case _:
                out.append(stmt)
    return tuple(out)


def _unfused(body: tuple[S, ...]) -> tuple[S, ...]:
    out: list[S] = []
    for stmt in body:
        match stmt:
            case For(body=b):
                split = unfused(stmt) if not has_loop(b) else None
                out.append(split or For(stmt.var, stmt.low, stmt.high, _unfused(b)))
            case t.While(body=b):
                out.append(t.While(_unfused(b)))
            case t.If(cond=cond, then=then, orelse=orelse):
                out.append(t.If(cond, _unfused(then), _unfused(orelse)))
            case _:
                out.append(stmt)
    return tuple(out)


def _candidates(body: tuple[S, ...], threads: bool) -> Iterator[tuple[S, ...]]:
    """The bodies of loops that are rewritten."""
    for stmt in body:
        nest = _nest(stmt) if threads else None
        if nest is not None:
            yield nest[2].body
        elif _is_innermost(stmt, threads):
            yield stmt.body
        else:
            for inner in t.bodies(stmt):
                yield from _candidates(inner, threads)


def _is_innermost(stmt: S, threads: bool) -> TypeGuard[For]:
    return isinstance(stmt, For) and not threads and not has_loop(stmt.body)


def _outside(body: tuple[S, ...], threads: bool, skipped: list[tuple[S, ...]]) -> set[str]:
    """Names that statements outside those bodies mention."""
    found: set[str] = set()
    for stmt in body:
        nest = _nest(stmt) if threads else None
        if nest is not None:
            if nest[2].body in skipped:
                found |= t.names(nest[2].body)
            continue
        for expr in t.expressions(stmt):
            found |= t.mentioned(expr)
        if _is_innermost(stmt, threads) and stmt.body not in skipped:
            continue
        for inner in t.bodies(stmt):
            found |= _outside(inner, threads, skipped)
    return found


def _joined(stmt: S, rewriter: _Rewriter, block: str) -> Body | None:
    """Neighbouring blocks as one loop over ``tm_x``, where the body uses bx and tx only so."""
    loops: list[For] = []
    while isinstance(stmt, For) and len(loops) < _MOST_AXES:
        loops.append(stmt)
        if len(stmt.body) != 1 or not isinstance(stmt.body[0], For):
            break
        stmt = stmt.body[0]
    if rewriter.threads:
        if not loops or _nest(loops[0]) is None:
            return None
        loops = list(_nest(loops[0]) or ())
    elif not loops or has_loop(loops[-1].body):
        return None
    x = loops.pop()
    if x.body in rewriter.skipped or any(loop.low != Number("0") for loop in (*loops, x)):
        return None
    if not isinstance(x.high, Name | Number):
        return None
    axis = _Axis(block, x.high, x.var, rewriter.scope.types)
    rewriter.scope.types["tm_x"] = "int32_t"
    body = t.map_expressions(rewriter.prepared(x.body), lambda e: _global(e, axis))
    if {block, x.var} & t.names(body):
        return None
    if any({block, x.var} & t.mentioned(loop.high) for loop in loops):
        return None
    lines: list[str] = []
    for indent, loop in enumerate(loops):
        lines.append("  " * indent + t.head(loop.var, "0", t.text(loop.high)))
    low, high = (Binary("*", Name(n), x.high) for n in (block, "tm_bx_end"))
    pad = "  " * len(loops)
    inner = rewriter.threads_loop("tm_x", low, high, body, tuple(loop.var for loop in loops))
    lines += [pad + line for line in inner]
    lines += ["  " * i + "}" for i in reversed(range(len(loops)))]
    return Body(tuple(lines), (), joined=t.text(x.high))


@dataclass(frozen=True, slots=True)
class _Axis:
    block: str
    extent: C
    thread: str
    types: Mapping[str, str]


def _global(expr: C, axis: _Axis) -> C:
    """``bx * block_x * k + tx * k`` → ``tm_x * k``, in any order of the summands.

    Only where all summands are integers of one type: those wrap alike in every order, while sums of
    floats round, and sums of int32 that become int64 later wrap before that.
    """
    if isinstance(expr, Binary) and expr.op in "+-":
        summands = list(_summands(expr, 1))
        found = {type_of(e, axis.types) for _, e in summands if not isinstance(e, Number)}
        pair = _pair(summands, axis) if len(found) == 1 and found <= _INTEGERS else None
        if pair is None:
            return _global_inside(expr, axis)
        while pair is not None:
            first, second, rest, wide = pair
            summands[first] = (summands[first][0], _product(rest, wide))
            del summands[second]
            pair = _pair(summands, axis)
        changed = [(sign, _global_inside(e, axis)) for sign, e in summands]
        changed.sort(key=lambda item: -item[0])
        sign, total = changed[0]
        if sign < 0:
            total = t.Unary("-", total)
        for sign, e in changed[1:]:
            total = Binary("+" if sign > 0 else "-", total, e)
        return total
    return _global_inside(expr, axis)


def _global_inside(expr: C, axis: _Axis) -> C:
    return t.rebuild(expr, lambda e: _global(e, axis))


def _summands(expr: C, sign: int) -> Iterator[tuple[int, C]]:
    if isinstance(expr, Binary) and expr.op in "+-":
        yield from _summands(expr.lhs, sign)
        yield from _summands(expr.rhs, sign if expr.op == "+" else -sign)
    else:
        yield sign, expr


def _factors(expr: C) -> Iterator[C]:
    if isinstance(expr, Binary) and expr.op == "*":
        yield from _factors(expr.lhs)
        yield from _factors(expr.rhs)
    else:
        yield expr


def _pair(summands: list[tuple[int, C]], axis: _Axis) -> tuple[int, int, list[C], bool] | None:
    for wide in (False, True):
        names = (Name(axis.block), axis.extent, Name(axis.thread))
        bx, extent, tx = [Cast("int64_t", n) if wide else n for n in names]
        for i, (sign, e) in enumerate(summands):
            factors = list(_factors(e))
            if bx not in factors or extent not in factors:
                continue
            factors.remove(bx)
            factors.remove(extent)
            for j, (other_sign, other) in enumerate(summands):
                rest = list(_factors(other))
                if tx not in rest or other_sign != sign:
                    continue
                rest.remove(tx)
                if sorted(map(t.text, rest)) == sorted(map(t.text, factors)):
                    return i, j, rest, wide
    return None


def _product(rest: list[C], wide: bool) -> C:
    found: C = Cast("int64_t", Name("tm_x")) if wide else Name("tm_x")
    for factor in rest:
        found = Binary("*", found, factor)
    return found
