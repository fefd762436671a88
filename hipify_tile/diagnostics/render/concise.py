"""``file:line:column severity[code] headline``, one line a diagnostic."""

from __future__ import annotations

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.paths import relative_to


def place(d: Diagnostic, base: str) -> str:
    """Return ``file:line:column``, or the tool's name for a finding without a place."""
    if d.span is None:
        return "tile-migrate"
    return f"{relative_to(d.span.file, base)}:{d.span.line}:{d.span.column}"


def render(d: Diagnostic, base: str) -> str:
    """Return ``d`` on one line, paths relative to ``base``."""
    return f"{place(d, base)} {d.severity.value}[{d.code}] {d.headline}"
