"""A loop inside a loop over threads changes places with it, a strip of threads at a time.

    for (q)                                for (strip of q)
      sum = 0;                               for (l) sum[l] = 0;
      for (k) sum += a[k] * b[k * n + q];  → for (k) for (l) sum[l] += a[k] * b[k * n + strip + l];
      c[q] = sum;                            for (l) c[strip + l] = sum[l];

The inner loop's bounds are the same for all threads, or only its upper bound differs: where it
falls from thread to thread, the loop is over ever fewer of them, else it is over one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hipify_tile.build import c_tree as t
from hipify_tile.build.c_affine import is_invariant, linear
from hipify_tile.build.c_tree import Binary, C, Cast, For, If, Index, Name, Number, S
from hipify_tile.build.loop_passes import has_loop
from hipify_tile.build.vector_loops import Scope

_WIDTH, _WIDE = 16, 256
_NEAR = 4
_LINE = 64  # bytes of a cache line
_AHEAD, _FAR = "4", 16384  # iterations; bytes that processors do not look ahead themselves
_BYTES = {
    "bool": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "half": 2, "int32_t": 4,
    "uint32_t": 4, "float": 4,
}  # fmt: skip


class NotStrippedError(ValueError):
    """The loops keep their order: something depends on it, or it would not pay."""


def strips(body: tuple[S, ...], scope: Scope, private: AbstractSet[str]) -> list[str]:
    """Return the loop over ``tm_q`` in [0, ``tm_count``) with inner loops outside.

    Raises ``NotStrippedError``.
    """
    own = t.names(body) & private
    printer = _Strips(scope, own, own | {"tm_q"})
    _check_profit(body)
    groups = printer.groups(body)
    crossing = sorted(n for n in own if sum(n in g for g in printer.mentions) > 1)
    width = _WIDE if printer.ragged else _WIDTH
    lines = [f"for (int64_t tm_strip = 0; tm_strip < tm_count; tm_strip += {width}) {{"]
    lines += [f"  {scope.types[n]} {n}_v[{width}];" for n in crossing]
    short = printer.print(groups, crossing, "tm_width")
    rest = "(int32_t)(tm_count - tm_strip)"
    count = f"const int32_t tm_width = tm_count - tm_strip < {width} ? {rest} : {width};"
    if printer.ragged:
        return [*lines, f"  {count}", *(f"  {line}" for line in short), "}"]
    lines.append(f"  if (tm_count - tm_strip >= {width}) {{")
    lines += [f"    {line}" for line in printer.print(groups, crossing, str(width))]
    lines += ["  } else {", f"    {count}", *(f"    {line}" for line in short), "  }", "}"]
    return lines


def _check_profit(body: tuple[S, ...]) -> None:
    """Threads of a strip must find their data side by side, or where data says."""
    changing = t.written(body)
    if any(isinstance(s, t.Break) for s in t.statements(body)):
        raise NotStrippedError("break")
    for loop in t.statements(body):
        if not isinstance(loop, For):
            continue
        for stmt in t.statements(loop.body):
            for expr in t.expressions(stmt):
                for e in t.walk(expr):
                    if not isinstance(e, Index) or "tm_q" not in t.mentioned(e.index):
                        continue
                    names = dict.fromkeys(t.mentioned(e.index), "int64_t")
                    found = linear(_uncast(e.index), "tm_q", names, frozenset())
                    near = found and isinstance(found.step, int) and abs(found.step) <= _NEAR
                    if not near and not t.mentioned(e.index) & changing:
                        raise NotStrippedError(t.text(e))


def _uncast(expr: C) -> C:
    return _uncast(expr.operand) if isinstance(expr, Cast) else t.rebuild(expr, _uncast)


@dataclass(frozen=True, slots=True)
class _Run:
    body: tuple[S, ...]


@dataclass(frozen=True, slots=True)
class _Branch:
    cond: C
    then: list[_Group]
    orelse: list[_Group]


@dataclass(frozen=True, slots=True)
class _Loop:
    loop: For
    inner: list[_Group]


@dataclass(frozen=True, slots=True)
class _Ragged:
    loop: For


_Group = _Run | _Branch | _Loop | _Ragged


class _Strips:
    def __init__(self, scope: Scope, own: AbstractSet[str], varying: AbstractSet[str]) -> None:
        self.scope, self.own, self.varying = scope, own, varying
        self.mentions: list[set[str]] = []
        self.ragged = False

    def groups(self, body: tuple[S, ...]) -> list[_Group]:
        """Statements without loops in runs; loops and conditions with groups inside."""
        out: list[_Group] = []
        run: list[S] = []

        def flush() -> None:
            if run:
                self.mentions.append(t.names(tuple(run)) & self.own)
                out.append(_Run(tuple(run)))
                run.clear()

        for stmt in body:
            if not has_loop((stmt,)):
                run.append(stmt)
                continue
            flush()
            match stmt:
                case If(cond=cond, then=then, orelse=orelse) if self.same(cond):
                    out.append(_Branch(cond, self.groups(then), self.groups(orelse)))
                case For(low=low, high=high) if self.same(low) and self.same(high):
                    out.append(_Loop(stmt, self.groups(stmt.body)))
                case For(low=low, high=high) if self.same(low) and not has_loop(stmt.body):
                    if any(isinstance(e, Index | t.Call) for e in t.walk(high)):
                        raise NotStrippedError(t.text(high))
                    if t.mentioned(high) & t.written(stmt.body):
                        raise NotStrippedError(t.text(high))
                    self.ragged = True
                    self.mentions.append((t.names(stmt.body) | t.mentioned(high)) & self.own)
                    out.append(_Ragged(stmt))
                case _:
                    raise NotStrippedError("an inner loop that differs between threads")
        flush()
        return out

    def same(self, expr: C) -> bool:
        return is_invariant(expr, self.varying)

    def print(self, groups: list[_Group], crossing: list[str], width: str) -> list[str]:
        lines: list[str] = []
        for group in groups:
            match group:
                case _Branch(cond=cond, then=then, orelse=orelse):
                    lines.append(f"if ({t.text(cond)}) {{")
                    lines += [f"  {x}" for x in self.print(then, crossing, width)]
                    lines.append("} else {")
                    lines += [f"  {x}" for x in self.print(orelse, crossing, width)]
                    lines.append("}")
                case _Loop(loop=loop, inner=inner):
                    lines.append(t.head(loop.var, t.text(loop.low), t.text(loop.high)))
                    lines += [f"  {x}" for x in self.print(inner, crossing, width)]
                    lines.append("}")
                case _Ragged(loop=loop):
                    lines += self.ragged_loop(loop, crossing, width)
                case _Run(body=run):
                    lines += self.lanes(run, crossing, width)
        return lines

    def ragged_loop(self, loop: For, crossing: list[str], width: str) -> list[str]:
        end = self.scope.fresh("to")
        low = t.text(loop.low)
        vector: dict[str, C] = {n: Index(f"{n}_v", Name("tm_l")) for n in crossing}
        high = t.text(t.substitute(loop.high, vector))
        each = t.head(loop.var, low, f"{end}[tm_l]")
        return [
            f"int32_t {end}[{_WIDE}];",
            f"for (int32_t tm_l = 0; tm_l < {width}; ++tm_l) {{",
            "  const int64_t tm_q = tm_strip + tm_l; (void)tm_q;",
            f"  {end}[tm_l] = {high};",
            "}",
            f"int32_t {end}_rises = 0;",
            f"for (int32_t tm_l = 1; tm_l < {width}; ++tm_l) {{",
            f"  {end}_rises |= {end}[tm_l] > {end}[tm_l - 1];",
            "}",
            f"if (!{end}_rises) {{",
            f"  int32_t {end}_left = {width};",
            f"  for (int32_t {loop.var} = {low};; ++{loop.var}) {{",
            f"    while ({end}_left > 0 && {end}[{end}_left - 1] <= {loop.var}) --{end}_left;",
            f"    if ({end}_left == 0) break;",
            *(f"    {x}" for x in self.prefetches(loop, f"{end}_left")),
            *(f"    {x}" for x in self.lanes(loop.body, crossing, f"{end}_left")),
            "  }",
            "} else {",
            *(f"  {x}" for x in self.lanes(loop.body, crossing, width, each)),
            "}",
        ]

    def prefetches(self, loop: For, width: str) -> Iterator[str]:
        """Ask for what the next iteration reads, far from what this one reads."""
        ahead: dict[str, C] = {
            loop.var: Binary("+", Name(loop.var), Number(_AHEAD)),
            "tm_q": Name("tm_ahead"),
        }
        seen: set[Index] = set()
        for stmt in t.statements(loop.body):
            for expr in t.expressions(stmt):
                for e in t.walk(expr):
                    if not isinstance(e, Index) or e in seen or self.own & t.mentioned(e.index):
                        continue
                    if not {loop.var, "tm_q"} <= t.mentioned(e.index) or not is_invariant(
                        e.index, frozenset()
                    ):
                        continue
                    seen.add(e)
                    line = _LINE // _BYTES.get(self.scope.types.get(e.array, ""), 8)
                    place = t.text(Index(e.array, t.substitute(e.index, ahead)))
                    yield "{"
                    yield "  int64_t tm_ahead = tm_strip, tm_q = tm_strip;"
                    yield f"  if ((uintptr_t)&{place} - (uintptr_t)&{t.text(e)} > {_FAR})"
                    yield f"    for (; tm_ahead < tm_q + {width}; tm_ahead += {line})"
                    yield f"      __builtin_prefetch(&{place});"
                    yield "}"

    def lanes(
        self, run: tuple[S, ...], crossing: list[str], width: str, around: str = ""
    ) -> list[str]:
        vector: dict[str, C] = {n: Index(f"{n}_v", Name("tm_l")) for n in crossing}
        lines = [f"for (int32_t tm_l = 0; tm_l < {width}; ++tm_l) {{"]
        lines.append("  const int64_t tm_q = tm_strip + tm_l; (void)tm_q;")
        local = sorted((t.names(run) & self.own) - set(crossing))
        lines += [f"  {self.scope.types[n]} {n};" for n in local]
        inside = list(t.lines(t.substituted(run, vector), "  "))
        return [*lines, *([f"  {around}", *inside, "  }"] if around else inside), "}"]
