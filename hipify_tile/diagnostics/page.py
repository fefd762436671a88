"""The page of a diagnostic code: what it means, an example, how to fix it.

Pages are Markdown files ``pages/TMxxxx.md`` inside the package (``docs/diagnostics`` is a link to
that folder), so ``tile-migrate explain`` works in an installed copy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

SECTIONS = (
    "What it means",
    "Why it stops the migration",
    "Example",
    "What the tool does",
    "How to fix",
    "When to ignore",
)
_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A page's whole ``text`` and its ``sections`` by title."""

    text: str
    sections: dict[str, str]

    def blocks(self, section: str, language: str) -> tuple[str, ...]:
        """Return the fenced blocks of ``language`` in ``section``."""
        found = _FENCE.findall(self.sections.get(section, ""))
        return tuple(body for name, body in found if name == language)


def read(code: str) -> Page:
    """Return the page of ``code``; KeyError if there is none."""
    source = files("hipify_tile.diagnostics").joinpath("pages", f"{code}.md")
    if not source.is_file():
        raise KeyError(code)
    text = source.read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    sections = {title.strip(): body for title, body in zip(parts[1::2], parts[2::2], strict=True)}
    return Page(text, sections)
