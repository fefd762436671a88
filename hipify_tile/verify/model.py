"""What verification yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hipify_tile.diagnostics.model import Diagnostic


class Outcome(StrEnum):
    """Verdict on one emission."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    MISMATCH = "mismatch"


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of running one emission against the original.

    ``inputs`` is the number of executed comparisons, errors are over all of them, ``tolerance`` is
    the largest relative error allowed (0 means bit-exact). ``executor`` is ``cpu`` or ``cuda``.
    """

    outcome: Outcome
    inputs: int = 0
    seed: int = 0
    max_abs_error: float = 0.0
    max_rel_error: float = 0.0
    tolerance: float = 0.0
    executor: str = "cpu"
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()
    cases: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ProgramEvidence:
    """Launches of one kernel in whole programs, original against migrated.

    ``source`` is the file or folder they come from. ``launches`` = ``equal`` + ``different`` +
    ``unchecked``. ``level`` is the migrated implementation (empty if not known), ``first`` the
    first launch that differed, ``reason`` why one was not checked. ``outdated``: older than the
    kernel.
    ``tolerance`` is the relative error up to which floats counted as equal.
    """

    source: str
    equal: int = 0
    different: int = 0
    unchecked: int = 0
    level: str = ""
    first: str = ""
    reason: str = ""
    outdated: bool = False
    tolerance: float = 0.0

    @property
    def launches(self) -> int:
        """All launches, compared or not."""
        return self.equal + self.different + self.unchecked
