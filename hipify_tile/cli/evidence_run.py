"""Launches of whole programs as evidence: results of mode check, and replayed launches."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hipify_tile.build.plan import Plan
from hipify_tile.build.program import build
from hipify_tile.compat import library_path
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.driver import analyze
from hipify_tile.programs import evidence
from hipify_tile.programs.replay import (
    NoRecordingsError,
    Recording,
    Replayed,
    recordings,
    replay,
)
from hipify_tile.programs.results import NoResultsError
from hipify_tile.project import Project
from hipify_tile.report.model import KernelReport, Verdict
from hipify_tile.report.programs import Evidence
from hipify_tile.rewriter.model import Emission, Target
from hipify_tile.verify.model import ProgramEvidence


class NoEvidenceError(Exception):
    """What was named holds no results; the text says what is wrong with it."""


def of_results(files: Sequence[Path], kernels: Sequence[KernelReport]) -> Evidence:
    """Read reports of mode check; raises NoEvidenceError."""
    try:
        return evidence.of_files(files, {k.mangled: k.file for k in kernels})
    except NoResultsError as error:
        raise NoEvidenceError(str(error)) from error


def of_replay(
    folder: Path, project: Project, kernels: Sequence[KernelReport]
) -> tuple[Evidence, tuple[Diagnostic, ...]]:
    """Replay the launches in ``folder`` with the verified kernels; also say what was not compared.

    Raises NoEvidenceError.
    """
    try:
        recorded = recordings(folder)
        runtime = library_path("cudart")
    except (NoRecordingsError, OSError) as error:
        raise NoEvidenceError(str(error)) from error
    known = Counter(k.mangled for k in kernels)
    usable = [r for r in recorded if known[r.mangled] == 1]
    done = [Replayed(r, _unusable(known[r.mangled])) for r in recorded if known[r.mangled] != 1]
    if usable:
        with tempfile.TemporaryDirectory(prefix="tile-migrate-") as scratch:
            library = _library(project, kernels, runtime.parent, Path(scratch))
            bounds = {k.mangled: _tolerance(k) for k in kernels}
            done += replay(
                usable, library, runtime, Path(scratch), tolerance=lambda r: bounds[r.mangled]
            )
    found: dict[str, list[ProgramEvidence]] = {}
    for item in done:
        row = (
            evidence.of_result(item.result, str(folder))
            if item.result is not None
            else ProgramEvidence(str(folder), unchecked=1, reason=item.why)
        )
        found.setdefault(item.recording.mangled, []).append(row)
    sums = {name: [evidence.total(rows)] for name, rows in found.items()}
    return sums, tuple(_not_compared(done, kernels))


def _unusable(count: int) -> str:
    return (
        "several files have a kernel of this name" if count else "the sources have no such kernel"
    )


def _library(
    project: Project, kernels: Sequence[KernelReport], runtime: Path, scratch: Path
) -> Path:
    """Build a shared library of all kernels, kept and migrated."""
    plan = Plan(
        analyses=[analyze(u) for u in project.units if u.language == "cuda"],
        emissions={(path, k.mangled): _emissions(k) for k in kernels for path in k.units},
        output=scratch / "kernels.so",
        folder=scratch / "objects",
        runtime=runtime,
        kernels_only=True,
    )
    built = build(plan)
    if built.output is None:
        (first, *_) = built.diagnostics
        words = " ".join((f"[{first.code}] {first.headline}", *first.notes[:1]))
        raise NoEvidenceError(f"the kernels cannot be built to replay them: {words}")
    return built.output


def _emissions(kernel: KernelReport) -> tuple[Emission, ...]:
    emission = kernel.emission
    if kernel.verdict is not Verdict.VERIFIED or emission is None:
        return ()
    return (emission,) if Target.CPU in emission.targets else ()


def _tolerance(kernel: KernelReport) -> float:
    """The relative error that verification allows where a sum has another order."""
    if kernel.emission is None or kernel.verification is None or not kernel.emission.tolerance:
        return 0.0
    return kernel.verification.tolerance


def _not_compared(
    done: Sequence[Replayed], kernels: Sequence[KernelReport]
) -> Iterator[Diagnostic]:
    ids = {k.mangled: k.id for k in kernels}
    groups: dict[tuple[str, str], list[Recording]] = {}
    for item in done:
        if item.why:
            groups.setdefault((item.recording.mangled, item.why), []).append(item.recording)
    for (mangled, why), items in groups.items():
        first = items[0]
        count = f"{len(items)} launches" if len(items) > 1 else "1 launch"
        yield diagnostic(
            "TM5012",
            kernel=ids.get(mangled, first.kernel),
            notes=(f"{count} of {first.kernel}, the first is {first.folder}: {why}",),
        )
