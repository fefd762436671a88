"""Workflow commands that GitHub shows as annotations on a pull request."""

from __future__ import annotations

from hipify_tile.diagnostics.model import Diagnostic, Severity
from hipify_tile.diagnostics.paths import relative_to

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(d: Diagnostic, base: str) -> str:
    """Return ``d`` as ``::error file=…,line=…,col=…,title=…::message``."""
    fields = []
    if d.span is not None:
        fields = [
            f"file={_property(relative_to(d.span.file, base))}",
            f"line={d.span.line}",
            f"col={d.span.column}",
        ]
    fields.append(f"title={_property(d.code)}")
    text = "\n".join((d.headline, *d.notes, *((f"help: {d.help}",) if d.help else ())))
    return f"::{_COMMAND[d.severity]} {','.join(fields)}::{_message(text)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
