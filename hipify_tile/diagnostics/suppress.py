"""Which findings the user has asked not to see.

Three ways: a comment ``// tile-migrate: ignore[TM2001, TM1204] reason`` on the line of the
finding or alone on the line above; a table of path patterns in the configuration; a baseline, the
JSON report of an earlier run. A comment that hides nothing is itself reported (TM0011). Our own
bugs (TM9xxx) cannot be hidden. Verdicts do not change: a kept kernel stays kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.paths import relative_to
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span

_COMMENT = re.compile(rb"//[ \t]*tile-migrate:[ \t]*ignore\[([^\]\r\n]*)\]")
_CODE = re.compile(r"TM[0-9]{4}\Z")


@dataclass(frozen=True, slots=True)
class Comment:
    """An ``ignore`` comment: the ``line`` it covers and the ``codes`` it names."""

    span: Span
    line: int
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Findings of an earlier run: how often each (code, file, message, kernel) occurred."""

    counts: Mapping[tuple[str, str | None, str, str | None], int]

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read a JSON report; ValueError if the file is not one."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            rows = [
                (d["code"], d["file"], d["message"], d.get("kernel")) for d in data["diagnostics"]
            ]
        except (OSError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a tile-migrate JSON report: {error}") from error
        return cls(Counter(rows))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The findings left, and how many were hidden."""

    shown: tuple[Diagnostic, ...]
    hidden: int


def comments(path: str) -> tuple[Comment, ...]:
    """Return the ``ignore`` comments of a file, none if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            raw = stream.read()
    except OSError:
        return ()
    if b"tile-migrate" not in raw:
        return ()
    found = []
    offset = 0
    for number, text in enumerate(raw.split(b"\n"), 1):
        match = _COMMENT.search(text)
        if match:
            alone = not text[: match.start()].strip()
            codes = tuple(c.strip() for c in match[1].decode("latin-1").split(",") if c.strip())
            span = Span(
                path, number, match.start() + 1, offset + match.start(), offset + match.end()
            )
            found.append(Comment(span, number + 1 if alone else number, codes))
        offset += len(text) + 1
    return tuple(found)


def apply(
    diagnostics: Sequence[Diagnostic],
    *,
    base: str,
    files: Iterable[str] = (),
    ignored: Callable[[Path], frozenset[str]] | None = None,
    baseline: Baseline | None = None,
    executed: bool = True,
) -> Outcome:
    """Hide findings; ``files`` are scanned for comments, ``ignored`` gives a path's codes.

    ``executed`` says whether verification ran: if not, an unused suppression of a TM5xxx code is no
    finding. A baseline's paths are relative to ``base``.
    """
    by_file = {path: comments(path) for path in dict.fromkeys(files)}
    used: set[tuple[Span, str]] = set()
    remaining = Counter(dict(baseline.counts)) if baseline else Counter()
    shown = []
    hidden = 0
    for d in diagnostics:
        if d.code.startswith("TM9"):
            shown.append(d)
        elif _by_comment(d, by_file, used) or _by_path(d, ignored):
            hidden += 1
        elif remaining[_row(d, base)] > 0:
            remaining[_row(d, base)] -= 1
            hidden += 1
        else:
            shown.append(d)
    for rows in by_file.values():
        for comment in rows:
            shown += _unused(comment, used, executed)
    return Outcome(tuple(shown), hidden)


def _row(d: Diagnostic, base: str) -> tuple[str, str | None, str, str | None]:
    file = relative_to(d.span.file, base) if d.span else None
    return (d.code, file, d.headline, d.kernel or None)


def _by_comment(
    d: Diagnostic, by_file: Mapping[str, Sequence[Comment]], used: set[tuple[Span, str]]
) -> bool:
    if d.span is None:
        return False
    hit = False
    for comment in by_file.get(d.span.file, ()):
        if comment.line == d.span.line and d.code in comment.codes:
            used.add((comment.span, d.code))
            hit = True
    return hit


def _by_path(d: Diagnostic, ignored: Callable[[Path], frozenset[str]] | None) -> bool:
    return d.span is not None and ignored is not None and d.code in ignored(Path(d.span.file))


def _unused(comment: Comment, used: set[tuple[Span, str]], executed: bool) -> list[Diagnostic]:
    out = []
    for code in comment.codes or ("",):
        if (comment.span, code) in used or (code.startswith("TM5") and not executed):
            continue
        known = _CODE.match(code) is not None
        headline = f"suppression of {code} hides nothing" if known else "names no diagnostic code"
        out.append(diagnostic("TM0011", comment.span, headline=headline, help="remove the comment"))
    return out
