"""The verdict rules: facts, emissions and executions of a kernel → its ``KernelReport``.

- ``unparsed``: the front end could not read the kernel.
- ``verified``: some level was executed and equal; the kernel's level is the highest such level.
- ``kept``: no level was emitted that TileLang accepts, or executing one gave other values and no
  level is verified.
- ``unverified``: emitted, and nothing proves or disproves it; the diagnostics say why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hipify_tile.analyzer.model import KernelFact
from hipify_tile.diagnostics.model import Diagnostic, Effort, Severity
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.report.model import KEPT, KernelReport, LevelReport, Verdict, worst_effort
from hipify_tile.rewriter.model import Level, LevelResult, Target
from hipify_tile.verify.model import Outcome, Verification

Verifications = Mapping[Level, Verification]


def kernel_report(
    fact: KernelFact,
    results: Sequence[LevelResult] = (),
    verifications: Verifications | None = None,
    *,
    extra: tuple[tuple[str, str], ...] = (),
    added: tuple[Diagnostic, ...] = (),
    target: Target | None = None,
) -> KernelReport:
    """Apply the rules to one kernel; ``verifications`` is None when nothing was executed.

    ``target`` is what the user migrates to: its ladder decides which level is the kernel's.
    """
    order = ladder(target)
    levels = tuple(
        sorted(
            (
                LevelReport(
                    level=r.level,
                    emission=r.emission,
                    verification=(verifications or {}).get(r.level) if r.emission else None,
                    diagnostics=_level_diagnostics(r, verifications),
                )
                for r in results
            ),
            key=lambda item: order.index(item.level),
        )
    )
    verdict, level = _verdict(fact, levels)
    chosen = next((item for item in levels if item.level is level), None)
    executed = chosen.verification if chosen else _first_mismatch(levels)
    found = _reasoned(
        fact,
        verdict,
        _diagnostics(fact, levels, verdict, chosen, verifications is not None) + added,
    )
    targets = tuple((t, _cell(t, levels, verdict)) for t in Target)
    definition = chosen.emission.definition if chosen and chosen.emission else ""
    return KernelReport(
        id=fact.id,
        name=fact.name,
        mangled=fact.mangled,
        file=fact.span.file,
        line=fact.span.line,
        template_args=fact.template_args,
        instance_of=fact.instance_of,
        verdict=verdict,
        level=level,
        levels=levels,
        targets=targets,
        executed=tuple(t for t, cell in targets if cell and _executed(t, cell, levels)),
        verification=executed,
        cuda_source=fact.cuda_source,
        loc_cuda=len(fact.cuda_source.splitlines()),
        loc_tilelang=len(definition.splitlines()),
        effort=Effort.NONE if verdict is Verdict.VERIFIED else worst_effort(found),
        diagnostics=found,
        extra=extra,
        qualified=fact.qualified,
    )


def ladder(target: Target | None) -> tuple[Level, ...]:
    """Return the levels for ``target``, best first.

    A program at level ``loop`` runs a block on one thread: on a GPU it is the last resort.
    """
    if target in (Target.CUDA, Target.HIP):
        return Level.TILE, Level.SIMT, Level.LOOP
    return Level.TILE, Level.LOOP, Level.SIMT


def _verdict(fact: KernelFact, levels: Sequence[LevelReport]) -> tuple[Verdict, Level | None]:
    if fact.unparsed:
        return Verdict.UNPARSED, None
    for item in levels:
        if item.verified:
            return Verdict.VERIFIED, item.level
    if fact.kernel is None or _first_mismatch(levels) is not None:
        return Verdict.KEPT, None
    for item in levels:
        if item.usable:
            return Verdict.UNVERIFIED, item.level
    return Verdict.KEPT, None


def _first_mismatch(levels: Sequence[LevelReport]) -> Verification | None:
    for item in levels:
        if item.verification is not None and item.verification.outcome is Outcome.MISMATCH:
            return item.verification
    return None


def _level_diagnostics(
    result: LevelResult, verifications: Verifications | None
) -> tuple[Diagnostic, ...]:
    found = list(result.diagnostics)
    if result.emission is not None:
        found += [d for d in result.emission.diagnostics if d not in found]
        if verifications and result.level in verifications:
            found += verifications[result.level].diagnostics
    return tuple(found)


def _diagnostics(
    fact: KernelFact,
    levels: Sequence[LevelReport],
    verdict: Verdict,
    chosen: LevelReport | None,
    was_executed: bool,
) -> tuple[Diagnostic, ...]:
    """What the user must know, without repeats.

    Once a level is verified, whatever stopped another level costs the user nothing: those errors
    and warnings become notes. A wrong result (TM5001, TM9xxx) never does.
    """
    found: list[Diagnostic] = list(fact.diagnostics)
    for item in levels:
        for d in item.diagnostics:
            harmless = verdict is Verdict.VERIFIED and item is not chosen and not _wrong(d)
            found.append(_as_note(d) if harmless else d)
    if verdict is Verdict.UNVERIFIED and not was_executed:
        found.append(diagnostic("TM5008", fact.span))
    elif verdict is Verdict.UNVERIFIED and chosen is not None and chosen.verification is None:
        found.append(diagnostic("TM5008", fact.span, headline="this level was not executed"))
    unique: dict[tuple[str, object, str], Diagnostic] = {}
    for d in found:
        own = d if d.kernel else replace(d, kernel=fact.id)
        unique.setdefault((own.code, own.span, own.headline), own)
    return tuple(unique.values())


def _reasoned(
    fact: KernelFact, verdict: Verdict, found: tuple[Diagnostic, ...]
) -> tuple[Diagnostic, ...]:
    """A kernel that is not verified has a code that says why; a stage that gave none has a bug."""
    if verdict is Verdict.VERIFIED or found:
        return found
    notes = (f"no stage recorded why the kernel is {verdict.value}",)
    return (diagnostic("TM9001", fact.span, kernel=fact.id, notes=notes),)


def _wrong(d: Diagnostic) -> bool:
    """Whether ``d`` says that something is wrong whatever another level gives."""
    return d.code in ("TM5001", "TM5009") or d.code.startswith("TM9")


def _as_note(d: Diagnostic) -> Diagnostic:
    return d if d.severity is Severity.NOTE else replace(d, severity=Severity.NOTE)


def _cell(target: Target, levels: Sequence[LevelReport], verdict: Verdict) -> str | None:
    if verdict in (Verdict.VERIFIED, Verdict.UNVERIFIED):
        order = ladder(target)
        levels = sorted(levels, key=lambda item: order.index(item.level))
        for item in (*(x for x in levels if x.verified), *levels):
            if item.usable and item.emission is not None and target in item.emission.targets:
                return item.level.value
    return KEPT if target is Target.CUDA and verdict is not Verdict.UNPARSED else None


def _executed(target: Target, cell: str, levels: Sequence[LevelReport]) -> bool:
    item = next((x for x in levels if x.level.value == cell), None)
    if item is None or not item.verified or item.verification is None:
        return False
    on_cpu = item.verification.executor == "cpu"
    if item.level is Level.SIMT:
        return target is Target.CUDA  # its CUDA text is what was executed
    return target is (Target.CPU if on_cpu else Target.CUDA)
