"""What the user must know, as data: a ``Diagnostic`` never prints itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hipify_tile.ir.span import Span


class Severity(StrEnum):
    """``ERROR``: the item was not migrated. ``WARNING``: migrated, needs a look."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Effort(StrEnum):
    """Work left for a person."""

    NONE = "none"
    MINUTES = "minutes"
    HOURS = "hours"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary position with a few words on its part in the cause."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes of ``span`` with ``text``."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    ``code`` is registered in ``registry.py``, which gives severity and effort unless overridden.
    ``headline`` is lower case, under 60 characters, states the fact and stands alone. ``kernel`` is
    the id of the kernel instance concerned, if any.
    """

    code: str
    headline: str
    severity: Severity
    effort: Effort
    span: Span | None = None
    kernel: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    edits: tuple[Edit, ...] = field(default=())
