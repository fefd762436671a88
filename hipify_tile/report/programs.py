"""What launches of whole programs say about kernels: mode check's results and replayed launches.

A launch that differs takes a verdict away; launches that are equal are evidence beside the verdict
and never make one. Results of another level, or older than the sources, are shown as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span
from hipify_tile.report.model import KernelReport, LevelReport, UnitReport, Verdict, worst_effort
from hipify_tile.verify.model import Outcome, ProgramEvidence

Evidence = Mapping[str, Sequence[ProgramEvidence]]
"""By mangled name."""


def with_evidence(units: Sequence[UnitReport], evidence: Evidence) -> tuple[UnitReport, ...]:
    """Return the reports with each kernel's evidence, and the verdicts that it leaves."""
    if not evidence:
        return tuple(units)
    return tuple(
        replace(unit, kernels=tuple(_judged(k, evidence.get(k.mangled, ())) for k in unit.kernels))
        for unit in units
    )


def _judged(kernel: KernelReport, evidence: Sequence[ProgramEvidence]) -> KernelReport:
    if not evidence:
        return kernel
    level = kernel.level.value if kernel.level else ""
    fits = [e if e.level in ("", level) else replace(e, outdated=True) for e in evidence]
    kernel = replace(kernel, programs=(*kernel.programs, *fits))
    differing = [e for e in evidence if e.different and (not e.level or e.level == level)]
    others = [e for e in evidence if e.different and e not in differing]
    old = [e for e in evidence if e.outdated or e.level not in ("", level)]
    found: list[Diagnostic] = []
    if differing and kernel.verdict in (Verdict.VERIFIED, Verdict.UNVERIFIED):
        found.append(_differs(kernel, differing))
    elif differing or others or old:
        found.append(_does_not_fit(kernel, (differing or others or old)[0]))
    if not differing or kernel.verdict is not Verdict.VERIFIED:
        return replace(kernel, diagnostics=(*kernel.diagnostics, *found))
    demoted = (*kernel.diagnostics, *found)
    verification = kernel.verification and replace(kernel.verification, outcome=Outcome.UNVERIFIED)
    return replace(
        kernel,
        verdict=Verdict.UNVERIFIED,
        verification=verification,
        levels=tuple(_demoted(x, found) if x.level is kernel.level else x for x in kernel.levels),
        executed=(),
        diagnostics=demoted,
        effort=worst_effort(demoted),
    )


def _demoted(item: LevelReport, found: Sequence[Diagnostic]) -> LevelReport:
    old = item.verification
    return replace(
        item,
        verification=old and replace(old, outcome=Outcome.UNVERIFIED),
        diagnostics=(*item.diagnostics, *found),
    )


def _differs(kernel: KernelReport, evidence: Sequence[ProgramEvidence]) -> Diagnostic:
    notes = [f"{e.source}: {e.different} of {e.launches} launches differ" for e in evidence]
    notes += [f"the first: {e.first}" for e in evidence if e.first]
    if any(e.outdated for e in evidence):
        notes.append("these results are older than the kernel's source")
    return diagnostic(
        "TM5010",
        _place(kernel),
        kernel=kernel.id,
        notes=tuple(notes),
        help="keep the kernel, or run the program again in mode check when it is right",
    )


def _does_not_fit(kernel: KernelReport, evidence: ProgramEvidence) -> Diagnostic:
    why = (
        f"they are of level {evidence.level}, the kernel is now "
        f"{kernel.level.value if kernel.level else 'kept'}"
        if evidence.level and evidence.level != (kernel.level.value if kernel.level else "")
        else "they are older than the kernel's source"
    )
    return diagnostic(
        "TM5011",
        _place(kernel),
        kernel=kernel.id,
        notes=(f"{evidence.source}: {why}",),
        help="run the program again in mode check",
    )


def _place(kernel: KernelReport) -> Span | None:
    """The kernel's name, where another finding knows it; else its line."""
    spans = (d.span for d in kernel.diagnostics if d.span and d.span.file == kernel.file)
    return next(spans, Span(kernel.file, kernel.line, 1, 0, 0))
