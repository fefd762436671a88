"""Source positions. A span is carried by every node and excluded from equality."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A byte range of a source file.

    ``file`` is an absolute path as text, ``line`` and ``column`` are 1-based (column in bytes),
    ``start`` and ``end`` are byte offsets, ``end`` exclusive. ``in_macro`` says that the range is a
    whole macro invocation and not the construct's own text.
    """

    file: str
    line: int
    column: int
    start: int
    end: int
    in_macro: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
