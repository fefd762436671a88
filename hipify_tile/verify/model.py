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
