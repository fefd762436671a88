"""A diagnostic as a person reads it: headline, excerpt with the cause labelled, note, help.

error[TM1204]: barrier is reached by only some threads
  --> src/bfs.cu:66:9
   |
64 |     if (level[v] == depth) {
   |         ----------------- this branch is divergent
66 |         __syncthreads();
   |         ^^^^^^^^^^^^^^^
   |
   = help: move the barrier after the `if`
   = more: tile-migrate explain TM1204
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.paths import relative_to
from hipify_tile.diagnostics.source import SourceLines
from hipify_tile.ir.span import Span

Reader = Callable[[str], SourceLines | None]


@dataclass(frozen=True, slots=True)
class _Mark:
    line: int
    start: int
    end: int
    primary: bool
    text: str


def render(d: Diagnostic, base: str, *, width: int = 80, read: Reader = SourceLines.read) -> str:
    """Return ``d`` as text of at most ``width`` columns, paths relative to ``base``.

    Lines of source are cut at ``width``; notes and help are wrapped.
    """
    out = [f"{d.severity.value}[{d.code}]: {d.headline}"]
    gutter = 1
    if d.span is not None:
        source = read(d.span.file)
        marks = _marks(d, source) if source else []
        gutter = max((len(str(m.line)) for m in marks), default=1)
        place = f"{relative_to(d.span.file, base)}:{d.span.line}:{d.span.column}"
        out.append(f"{' ' * gutter}--> {place}")
        if source and marks:
            out += _excerpt(source, marks, gutter, width)
    for label in d.labels:
        if d.span is None or label.span.file != d.span.file:
            where = f"{relative_to(label.span.file, base)}:{label.span.line}"
            out += _remark("see", f"{where}: {label.text}", gutter, width)
    for note in d.notes:
        out += _remark("note", note, gutter, width)
    if d.help:
        out += _remark("help", d.help, gutter, width)
    out += _remark("more", f"tile-migrate explain {d.code}", gutter, width)
    return "\n".join(out)


def _marks(d: Diagnostic, source: SourceLines) -> list[_Mark]:
    assert d.span is not None
    own = [x.text for x in d.labels if x.span == d.span]
    marks = [_mark(d.span, source, True, own[0] if own else "")]
    marks += [
        _mark(x.span, source, False, x.text)
        for x in d.labels
        if x.span.file == d.span.file and x.span != d.span
    ]
    return sorted(marks, key=lambda m: (m.line, m.start))


def _mark(span: Span, source: SourceLines, primary: bool, text: str) -> _Mark:
    start = source.width(span.line, span.column)
    size = max(span.end - span.start, 1)
    last = min(span.column - 1 + size, source.length(span.line))
    end = source.width(span.line, last + 1)
    return _Mark(span.line, start, max(end, start + 1), primary, text)


def _excerpt(source: SourceLines, marks: list[_Mark], gutter: int, width: int) -> list[str]:
    bar = f"{' ' * gutter} |"
    room = max(width - gutter - 3, 20)
    out = [bar]
    previous = 0
    for line in dict.fromkeys(m.line for m in marks):
        if previous and line > previous + 1:
            out.append("...")
        previous = line
        text = source.text(line).rstrip()
        out.append(f"{line:>{gutter}} | {_cut(text, room)}".rstrip())
        for mark in marks:
            if mark.line == line and mark.start < room:
                out += _underline(mark, bar, room)
    out.append(bar)
    return out


def _underline(mark: _Mark, bar: str, room: int) -> list[str]:
    sign = "^" if mark.primary else "-"
    under = " " * mark.start + sign * (min(mark.end, room) - mark.start)
    if not mark.text:
        return [f"{bar} {under}"]
    if len(under) + 1 + len(mark.text) <= room:
        return [f"{bar} {under} {mark.text}"]
    indent = min(mark.start, max(room - len(mark.text), 0))
    wrapped = textwrap.wrap(mark.text, room - indent) or [""]
    return [f"{bar} {under}", *(f"{bar} {' ' * indent}{line}" for line in wrapped)]


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _remark(kind: str, text: str, gutter: int, width: int) -> list[str]:
    first = f"{' ' * gutter} = {kind}: "
    rest = " " * len(first)
    lines: list[str] = []
    for part in text.splitlines() or [""]:
        lines += textwrap.wrap(
            part,
            width,
            initial_indent=rest if lines else first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [rest.rstrip()]
    return lines
