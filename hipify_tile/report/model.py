"""``Report``: all that a run found out, as data; every output format is made from it.

Paths of files are absolute here; formats make them relative. Nothing here prints, reads or writes.
The JSON form (schema 1) is made in ``report/json.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from hipify_tile.analyzer.model import FileStatus
from hipify_tile.diagnostics.model import Diagnostic, Effort, Severity
from hipify_tile.rewriter.model import Emission, Level, Target
from hipify_tile.verify.model import Outcome, ProgramEvidence, Verification


class Verdict(StrEnum):
    """The one outcome of a kernel; totals never mix them."""

    VERIFIED = "verified"  # executed, equal to the original
    UNVERIFIED = "unverified"  # rewritten, not (or not conclusively) executed
    KEPT = "kept"  # stays CUDA
    UNPARSED = "unparsed"  # the front end could not read it


KEPT = "kept"
"""The cell of the target matrix for a kernel that runs as CUDA source there."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One rung of one kernel: what was emitted, what executing it gave, and why not."""

    level: Level
    emission: Emission | None
    verification: Verification | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def verified(self) -> bool:
        """Executed and equal."""
        return self.verification is not None and self.verification.outcome is Outcome.VERIFIED

    @property
    def usable(self) -> bool:
        """Emitted, accepted by TileLang as far as known, and not known to be wrong."""
        if self.emission is None or self.verification is None:
            return self.emission is not None
        rejected = any(d.code == "TM2402" for d in self.verification.diagnostics)
        return self.verification.outcome is not Outcome.MISMATCH and not rejected


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One kernel instance with its verdict.

    ``line`` is 1-based. ``targets`` gives the highest level that is emitted for a target,
    ``kept``, or None. ``executed`` lists the targets whose shown level was executed and equal.
    ``loc_cuda`` and ``loc_tilelang`` count lines of the kernel in either language (0: none).
    ``programs`` are launches of whole programs that were compared too.
    ``extra`` carries what only a bug report needs (a traceback). ``units`` are the paths of the
    translation units that it speaks for.
    """

    id: str
    name: str
    mangled: str
    file: str
    line: int
    template_args: tuple[str, ...]
    instance_of: str
    verdict: Verdict
    level: Level | None
    levels: tuple[LevelReport, ...]
    targets: tuple[tuple[Target, str | None], ...]
    executed: tuple[Target, ...]
    verification: Verification | None
    cuda_source: str
    loc_cuda: int
    loc_tilelang: int
    effort: Effort
    diagnostics: tuple[Diagnostic, ...]
    extra: tuple[tuple[str, str], ...] = ()
    qualified: str = ""
    units: tuple[str, ...] = ()
    programs: tuple[ProgramEvidence, ...] = ()

    @property
    def names(self) -> tuple[str, str, str]:
        """What ``--only`` and ``--keep`` compare their patterns with."""
        return self.name, self.qualified, self.id

    @property
    def emission(self) -> Emission | None:
        """The emission at the kernel's level, if it has one."""
        for item in self.levels:
            if item.level is self.level:
                return item.emission
        return None


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """A launch site; ``grid``, ``block``, ``smem`` and ``stream`` are source text."""

    kernel: str
    file: str
    line: int
    grid: str
    block: str
    smem: str
    stream: str
    resolved: bool


@dataclass(frozen=True, slots=True)
class CallReport:
    """A library entry point with the number of its call sites."""

    api: str
    library: str
    count: int
    status: str = "unknown"


@dataclass(frozen=True, slots=True)
class UnitReport:
    """The part of a report that one translation unit yields. ``calls`` are (api, library, site)."""

    path: str
    files: tuple[FileStatus, ...]
    kernels: tuple[KernelReport, ...]
    launches: tuple[LaunchReport, ...]
    calls: tuple[tuple[str, str, str], ...]
    diagnostics: tuple[Diagnostic, ...]
    user_files: tuple[str, ...]
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tool:
    """What produced the report."""

    name: str
    version: str
    tilelang: str
    libclang: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run. ``diagnostics`` are the unsuppressed findings of files and kernels.

    ``suppressed`` counts the findings that a comment, the configuration or a baseline hides.
    ``verify_requested`` says whether this run was asked to execute kernels. ``outdated`` is the
    number of files in the output tree that ``--check`` found to differ; None if not asked.
    """

    tool: Tool
    root: str
    command: tuple[str, ...]
    files: tuple[FileStatus, ...]
    kernels: tuple[KernelReport, ...]
    launches: tuple[LaunchReport, ...]
    calls: tuple[CallReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    suppressed: int = 0
    verify_requested: bool = False
    environment: tuple[tuple[str, str], ...] = field(default=())
    outdated: int | None = None

    def count(self, verdict: Verdict) -> int:
        """Return the number of kernel instances with ``verdict``."""
        return sum(1 for k in self.kernels if k.verdict is verdict)

    @property
    def loc(self) -> int:
        """Lines of CUDA in kernels, instances of one template counted once."""
        return sum({(k.file, k.line): k.loc_cuda for k in self.kernels}.values())

    def efforts(self) -> Counter[Effort]:
        """Return the number of kernels that are not done, by the work they leave."""
        return Counter(k.effort for k in self.kernels if k.effort is not Effort.NONE)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Diagnostics that make a run exit with 1: errors and warnings."""
        return tuple(d for d in self.diagnostics if d.severity is not Severity.NOTE)

    @property
    def internal_errors(self) -> tuple[Diagnostic, ...]:
        """Diagnostics that are our own bugs."""
        return tuple(d for d in self.diagnostics if d.code.startswith("TM9"))


_EFFORT_ORDER = (Effort.NONE, Effort.MINUTES, Effort.HOURS, Effort.REWRITE)
_SEVERITY_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def worst_effort(diagnostics: Iterable[Diagnostic]) -> Effort:
    """Return the largest effort among ``diagnostics``, ``NONE`` if there are none."""
    return max((d.effort for d in diagnostics), key=_EFFORT_ORDER.index, default=Effort.NONE)


def sort_key(d: Diagnostic) -> tuple[int, str, int, int, str, str]:
    """Order of presentation: severity, then place, then code."""
    place = (d.span.file, d.span.line, d.span.column) if d.span else ("", 0, 0)
    return (_SEVERITY_ORDER[d.severity], *place, d.code, d.headline)
