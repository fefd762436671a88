"""Passes and pipelines: named, ordered rewrites of one IR into the next, with dumps and timing.

A pass is a frozen dataclass whose fields are its options; calling it maps a program to a program.
Nothing here knows what a program is.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hipify_tile.diagnostics.model import Diagnostic


class Refusal(ValueError):
    """A pass cannot rewrite this program; ``diagnostics`` say why, the first being the cause."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(diagnostics[0].headline if diagnostics else "refused")
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class Pass(ABC):
    """A rewrite with a ``name``. Subclasses are frozen dataclasses; their fields are options."""

    name: ClassVar[str] = ""

    @abstractmethod
    def run(self, program: Any) -> Any:
        """Return the rewritten program. Raises ``Refusal`` where the rewrite is not possible."""


@dataclass(frozen=True, slots=True)
class PassRecord:
    """What one pass did: its time in milliseconds and the program after it."""

    name: str
    milliseconds: float
    program: Any


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Passes in order.

    ``verify`` (an executable specification of the IR that raises on a malformed program) runs
    after every pass when given.
    """

    passes: tuple[Pass, ...]
    verify: Callable[[Any], None] | None = None

    def run(self, program: Any) -> Any:
        """Run every pass and return the last program."""
        for step in self.passes:
            program = self._step(step, program).program
        return program

    def trace(self, program: Any) -> tuple[PassRecord, ...]:
        """Run every pass and return what each one made: IR dumps and timings."""
        records: list[PassRecord] = []
        for step in self.passes:
            records.append(self._step(step, program))
            program = records[-1].program
        return tuple(records)

    def _step(self, step: Pass, program: Any) -> PassRecord:
        start = time.perf_counter()
        after = step.run(program)
        elapsed = (time.perf_counter() - start) * 1e3
        if self.verify is not None:
            self.verify(after)
        return PassRecord(step.name, elapsed, after)
