"""The search for kernels that break a program: one run of it after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from hipify_tile.programs import results
from hipify_tile.programs.bisection import all_culprits
from hipify_tile.programs.judging import Judge
from hipify_tile.programs.process import Ended, capture, switched
from hipify_tile.programs.trace import Event, summarise


class Found(StrEnum):
    """How a search ended."""

    CULPRITS = "culprits"
    PASSES = "passes"  # with every kernel migrated
    KEPT_FAILS = "kept-fails"
    UNSTABLE = "unstable"  # the output to compare with changes from run to run
    NOTHING = "nothing-migrated"
    NOT_KERNELS = "not-the-kernels"  # fails with every kernel migrated by name, or without


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that the program launches; ``kinds`` are the implementations that ran migrated."""

    name: str
    mangled: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A run that was made: which kernels ran migrated, and why it failed (empty: it passed)."""

    kernels: tuple[Kernel, ...]
    failure: str
    seconds: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Culprit:
    """Kernels that break the program together, and what mode check says of each, if anything."""

    kernels: tuple[Kernel, ...]
    failure: str
    checks: tuple[tuple[str, Event], ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """What was found, by which runs."""

    found: Found
    steps: tuple[Step, ...]
    culprits: tuple[Culprit, ...] = ()
    kernels: tuple[Kernel, ...] = ()


@dataclass(slots=True)
class Bisector:
    """Runs ``command`` with chosen kernels migrated.

    ``timeout`` is in seconds; 0 means 30 s and twenty times what the kept run took. Each
    configuration runs up to ``repeat`` times and fails if one run fails. ``manifest`` holds mangled
    names of migrated kernels, for programs that die before they write their trace. ``told`` is
    called with every step.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    scratch: Path
    judge: Judge = field(default_factory=Judge)
    compare_output: bool = False
    timeout: float = 0.0
    repeat: int = 1
    manifest: frozenset[str] = frozenset()
    told: Callable[[Step], None] = lambda step: None
    steps: list[Step] = field(default_factory=list)

    def search(self) -> Search:
        """Run until the culprits are known; raises CannotRunError."""
        kept, why = self._run("every kernel kept", MODE="kept")
        if why:
            return self._end(Found.KEPT_FAILS)
        if not self.timeout:
            self.timeout = 30 + 20 * kept.seconds
            self.judge = replace(self.judge, timeout=self.timeout)
        if self.compare_output:
            self.judge = replace(self.judge, output=kept.out)
            if self._run("every kernel kept, again", MODE="kept")[1]:
                return self._end(Found.UNSTABLE)
        migrated, why = self._run("every kernel migrated", MODE="migrated")
        kernels = self._candidates(kept, migrated)
        if not why:
            return self._end(Found.PASSES if kernels else Found.NOTHING, kernels)
        if not kernels:
            return self._end(Found.NOTHING)
        if not self._fails(kernels):
            return self._end(Found.NOT_KERNELS, kernels)
        sets = all_culprits(kernels, self._fails)
        return self._end(Found.CULPRITS, kernels, tuple(self._culprit(found) for found in sets))

    def _end(
        self,
        found: Found,
        kernels: tuple[Kernel, ...] = (),
        culprits: tuple[Culprit, ...] = (),
    ) -> Search:
        return Search(found, tuple(self.steps), culprits, kernels)

    def _candidates(self, kept: Ended, migrated: Ended) -> tuple[Kernel, ...]:
        """Kernels that ran migrated; where that run left no trace, those that could have."""
        ran = {
            k.mangled: Kernel(k.name, k.mangled, tuple(kind for kind in k.ran if kind != "kept"))
            for k in summarise(migrated.events).kernels
        }
        if migrated.events:
            return tuple(k for k in ran.values() if k.kinds)
        launched = (Kernel(k.name, k.mangled) for k in summarise(kept.events).kernels)
        return tuple(k for k in launched if not self.manifest or k.mangled in self.manifest)

    def _fails(self, kernels: tuple[Kernel, ...]) -> bool:
        rules = ",".join(f"{k.mangled}=migrated" for k in kernels)
        return bool(self._run("", kernels, MODE="kept", KERNELS=rules)[1])

    def _run(
        self, label: str, kernels: tuple[Kernel, ...] = (), **switches: str
    ) -> tuple[Ended, str]:
        environment = switched(self.environment, **switches)
        seconds = 0.0
        for _ in range(self.repeat):
            ended = capture(self.command, environment, self.timeout, self.scratch)
            seconds += ended.seconds
            why = self.judge.verdict(ended, environment, self.scratch)
            if why:
                break
        step = Step(kernels, why, seconds, label)
        self.steps.append(step)
        self.told(step)
        return ended, why

    def _culprit(self, kernels: tuple[Kernel, ...]) -> Culprit:
        """Ask mode check about the launches of kernels that were found to break the program."""
        report = self.scratch / "check.jsonl"
        report.unlink(missing_ok=True)
        rules = ",".join(f"{k.mangled}=check" for k in kernels)
        environment = switched(
            self.environment, MODE="kept", KERNELS=rules, CHECK_REPORT=str(report)
        )
        capture(self.command, environment, 3 * self.timeout, self.scratch)
        try:
            rows = results.read(report)
        except results.NoResultsError:
            rows = ()
        checks = tuple((row.mangled, row.first) for row in rows if row.first is not None)
        names = {k.mangled for k in kernels}
        failure = next(
            (s.failure for s in self.steps if {k.mangled for k in s.kernels} == names), ""
        )
        return Culprit(kernels, failure, checks)
