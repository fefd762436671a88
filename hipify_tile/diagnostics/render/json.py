"""One diagnostic as plain data, as in the ``diagnostics`` list of a JSON report (schema 1)."""

from __future__ import annotations

from typing import Any

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.paths import relative_to


def as_dict(d: Diagnostic, base: str) -> dict[str, Any]:
    """Return ``d`` as data; ``file`` is relative to ``base``, null without a place."""
    return {
        "code": d.code,
        "severity": d.severity.value,
        "message": d.headline,
        "file": relative_to(d.span.file, base) if d.span else None,
        "line": d.span.line if d.span else None,
        "column": d.span.column if d.span else None,
        "effort": d.effort.value,
        "kernel": d.kernel or None,
        "notes": list(d.notes),
        "help": d.help,
    }
