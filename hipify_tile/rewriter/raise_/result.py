"""Outcome of a raising step that does not apply; a raising step never raises for user code."""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.ir.span import Span


@dataclass(frozen=True, slots=True)
class NotRaised:
    """``reason`` completes the sentence "not raised: …"; ``span`` points at its cause."""

    reason: str
    span: Span | None = None
