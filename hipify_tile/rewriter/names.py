"""Names that emitted Python may use: unique, no keyword, nothing that hides a name we need."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field

_NEEDED = frozenset(
    ("T", "struct", "f32", "f64", "map", "float", "target", "shared_bytes", "block", "prelude")
)
RESERVED = frozenset(keyword.kwlist) | _NEEDED


@dataclass(slots=True)
class Namer:
    """Hands out names that differ from each other and from ``RESERVED``."""

    taken: set[str] = field(default_factory=set)

    def fresh(self, wanted: str) -> str:
        """Return ``wanted`` or the first free variation of it, and take it."""
        base = re.sub(r"\W", "_", wanted) or "v"
        if base[0].isdigit():
            base = f"v{base}"
        name = base
        count = 1
        while name in self.taken or name in RESERVED:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name
