"""Translation units → analysis → emissions → executions → ``UnitReport``.

Holds the only catch-all of the project: a bug that shows on one kernel (or unit) becomes TM9001
with its traceback in the report's ``extra``, and every other kernel is still processed. It
decides nothing about CUDA or TileLang: the stages do, and ``report/verdict.py`` turns what they
yield into verdicts.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from hipify_tile.analyzer.model import (
    CompileUnit,
    FileStatus,
    KernelFact,
    LibraryCall,
    UnitAnalysis,
)
from hipify_tile.cache import Cache
from hipify_tile.config import VerifyLimits
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.project import Project
from hipify_tile.report.model import KernelReport, LaunchReport, UnitReport
from hipify_tile.report.verdict import kernel_report
from hipify_tile.rewriter.model import Level, LevelResult, Target
from hipify_tile.verify.model import Verification

Emitted = Mapping[str, tuple[LevelResult, ...]]
Executed = Mapping[str, Mapping[Level, Verification]]
Progress = Callable[[int, int, UnitReport], None]


def analyze(unit: CompileUnit) -> UnitAnalysis:
    """Run the front end on ``unit``."""
    from hipify_tile.analyzer.analyze import analyze_unit

    return analyze_unit(unit)


def emit(kernel: Kernel, root: str) -> tuple[LevelResult, ...]:
    """Run the rewriter on ``kernel``; provenance comments are relative to ``root``."""
    from hipify_tile.rewriter.pipeline import emit_levels

    return emit_levels(kernel, root=root)


def verify(
    analysis: UnitAnalysis,
    emitted: Emitted,
    seed: int,
    limits: VerifyLimits,
    save_failures: Path | None = None,
) -> Executed:
    """Execute the emissions of a unit against its original.

    ``save_failures`` is a folder for the first case on which a level differs.
    """
    from hipify_tile.verify.judge import Limits
    from hipify_tile.verify.runner import verify_kernels

    effort = Limits(cases=limits.inputs, seconds=limits.time_limit)
    return verify_kernels(analysis, emitted, seed=seed, limits=effort, save_failures=save_failures)


@dataclass(frozen=True, slots=True)
class Stages:
    """The three stages; tests replace them. Each must pickle (a module-level function)."""

    analyze: Callable[[CompileUnit], UnitAnalysis] = analyze
    emit: Callable[[Kernel, str], tuple[LevelResult, ...]] = emit
    verify: Callable[[UnitAnalysis, Emitted, int, VerifyLimits], Executed] = verify


@dataclass(frozen=True, slots=True)
class Options:
    """What a run does to each unit.

    ``only`` and ``keep`` are shell patterns on a kernel's name, qualified name or id; a kernel they
    exclude stays CUDA (TM0010). ``level`` restricts the ladder to one rung (TM0014 where another
    one was emitted), ``target`` to rungs that run on it.
    """

    verify: bool = False
    seed: int = 0
    jobs: int = 1
    only: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    level: Level | None = None
    target: Target | None = None
    limits: VerifyLimits = field(default_factory=VerifyLimits)
    cache: Cache | None = None

    def stage(self, *, verified: bool) -> str:
        """Return the cache's name for reports made under these options."""
        shared = (self.only, self.keep, self.level, self.target)
        text = repr((*shared, self.seed, self.limits) if verified else shared)
        kind = "verified" if verified else "emitted"
        return f"{kind}-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Job:
    """One unit with all that its worker process needs."""

    unit: CompileUnit
    options: Options
    stages: Stages = field(default_factory=Stages)


def run_units(
    units: Sequence[CompileUnit],
    options: Options,
    stages: Stages | None = None,
    progress: Progress | None = None,
) -> tuple[UnitReport, ...]:
    """Process ``units`` and return their reports in the same order.

    Cached units cost no process; the rest run in ``options.jobs`` worker processes. A worker that
    dies (a crash in native code) costs its own unit only.
    """
    done: dict[int, UnitReport] = {}

    def finish(index: int, report: UnitReport) -> None:
        done[index] = report
        if progress is not None:
            progress(len(done), len(units), report)

    jobs = [Job(unit, options, stages or Stages()) for unit in units]
    misses = []
    for index, job in enumerate(jobs):
        cached = cached_report(job)
        if cached is None:
            misses.append(index)
        else:
            finish(index, cached)
    if options.jobs <= 1 or len(misses) <= 1:
        for index in misses:
            finish(index, process_unit(jobs[index]))
    else:
        lost = _run_parallel(jobs, misses, options.jobs, finish)
        for index in lost:
            finish(index, _run_alone(jobs[index]))
    return tuple(done[index] for index in range(len(units)))


def run_project(
    project: Project,
    options: Options,
    stages: Stages | None = None,
    progress: Progress | None = None,
) -> tuple[UnitReport, ...]:
    """Process a project's units, then those headers with kernels that no unit has read."""
    reports = run_units(project.units, options, stages, progress)
    seen = {path for report in reports for path in report.user_files}
    alone = [unit for unit in project.headers if unit.path not in seen]
    if not alone:
        return reports
    before = len(reports)

    def further(done: int, total: int, report: UnitReport) -> None:
        if progress is not None:
            progress(before + done, before + total, report)

    return reports + run_units(alone, options, stages, further)


def unmatched(patterns: Iterable[str], units: Iterable[UnitReport]) -> tuple[str, ...]:
    """Return those ``patterns`` (as in ``Options``) that match no kernel of ``units``."""
    kernels = [kernel.names for unit in units for kernel in unit.kernels]
    return tuple(p for p in patterns if not any(_matches(names, (p,)) for names in kernels))


def cached_report(job: Job) -> UnitReport | None:
    """Return the stored report that answers ``job``: executed if there is one."""
    cache, options = job.options.cache, job.options
    if cache is None:
        return None
    found = cache.load(job.unit, options.stage(verified=True), UnitReport)
    if found is None and not options.verify:
        found = cache.load(job.unit, options.stage(verified=False), UnitReport)
    return found


def process_unit(job: Job) -> UnitReport:
    """Analyse, emit and, if asked, execute one unit; never raises for what a unit contains."""
    started = time.perf_counter()
    clock = time.time_ns()
    try:
        analysis = job.stages.analyze(job.unit)
    except Exception:
        return _failed_unit(job.unit, traceback.format_exc(), started)
    emitted, reports = _emit_all(job, analysis)
    executed: Executed | None = None
    if job.options.verify and emitted:
        executed, reports = _execute(job, analysis, emitted, reports)
    for fact in analysis.kernels:
        if fact.id not in reports:
            verdicts = None if executed is None else executed.get(fact.id, {})
            results = emitted.get(fact.id, ())
            reports[fact.id] = kernel_report(
                fact,
                _restrict(results, job.options, fact),
                verdicts,
                added=_left_out(results, job.options, fact),
                target=job.options.target,
            )
    report = UnitReport(
        path=job.unit.path,
        files=analysis.files,
        kernels=tuple(reports[fact.id] for fact in analysis.kernels),
        launches=_launches(analysis),
        calls=tuple((c.api, c.library, str(c.span)) for c in analysis.calls),
        diagnostics=analysis.diagnostics + _library_findings(analysis),
        user_files=analysis.user_files,
        milliseconds=(time.perf_counter() - started) * 1e3,
    )
    _store(job, report, clock)
    return report


def _emit_all(
    job: Job, analysis: UnitAnalysis
) -> tuple[dict[str, tuple[LevelResult, ...]], dict[str, KernelReport]]:
    emitted: dict[str, tuple[LevelResult, ...]] = {}
    reports: dict[str, KernelReport] = {}
    for fact in analysis.kernels:
        if not _selected(fact, job.options):
            request = diagnostic("TM0010", fact.span, kernel=fact.id)
            reports[fact.id] = kernel_report(replace(fact, kernel=None), added=(request,))
        elif fact.kernel is not None:
            try:
                emitted[fact.id] = job.stages.emit(fact.kernel, job.unit.root)
            except Exception:
                reports[fact.id] = _failed_kernel(fact, traceback.format_exc())
    return emitted, reports


def _execute(
    job: Job,
    analysis: UnitAnalysis,
    emitted: dict[str, tuple[LevelResult, ...]],
    reports: dict[str, KernelReport],
) -> tuple[Executed, dict[str, KernelReport]]:
    """Execute the whole unit at once; on a bug, kernel by kernel to find the one that has it."""
    facts = {fact.id: fact for fact in analysis.kernels}
    wanted = {k: _restrict(v, job.options, facts[k]) for k, v in emitted.items()}
    usable = {k: v for k, v in wanted.items() if any(r.emission is not None for r in v)}
    if not usable:
        return {}, reports
    try:
        return job.stages.verify(analysis, usable, job.options.seed, job.options.limits), reports
    except Exception:
        failed = dict(reports)
        executed: dict[str, Mapping[Level, Verification]] = {}
        for fact in analysis.kernels:
            if fact.id not in usable:
                continue
            try:
                alone = {fact.id: usable[fact.id]}
                executed.update(
                    job.stages.verify(analysis, alone, job.options.seed, job.options.limits)
                )
            except Exception:
                failed[fact.id] = _failed_kernel(fact, traceback.format_exc())
        return executed, failed


def _restrict(
    results: tuple[LevelResult, ...], options: Options, fact: KernelFact
) -> tuple[LevelResult, ...]:
    kept = [r for r in results if options.level is None or r.level is options.level]
    if options.target is None:
        return tuple(kept)
    lacks = diagnostic("TM2401", fact.span, headline=f"not available on {options.target.value}")
    return tuple(
        replace(r, emission=None, diagnostics=(*r.diagnostics, lacks))
        if r.emission is not None and options.target not in r.emission.targets
        else r
        for r in kept
    )


def _left_out(
    results: tuple[LevelResult, ...], options: Options, fact: KernelFact
) -> tuple[Diagnostic, ...]:
    """TM0014 where ``options.level`` has no emission and another level has."""
    if options.level is None or any(
        r.emission is not None for r in results if r.level is options.level
    ):
        return ()
    others = ", ".join(r.level.value for r in results if r.emission is not None)
    if not others:
        return ()
    headline = f"level {options.level.value} cannot be had; {others} can"
    return (diagnostic("TM0014", fact.span, kernel=fact.id, headline=headline),)


def _selected(fact: KernelFact, options: Options) -> bool:
    names = (fact.name, fact.qualified, fact.id)
    wanted = not options.only or _matches(names, options.only)
    return wanted and not _matches(names, options.keep)


def _matches(names: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _failed_kernel(fact: KernelFact, text: str) -> KernelReport:
    bug = diagnostic("TM9001", fact.span, kernel=fact.id, notes=(text.strip().splitlines()[-1],))
    extra = (("traceback", text),)
    return kernel_report(replace(fact, kernel=None), (), extra=extra, added=(bug,))


def _failed_unit(unit: CompileUnit, text: str, started: float) -> UnitReport:
    elapsed = (time.perf_counter() - started) * 1e3
    bug = diagnostic(
        "TM9001",
        headline="tile-migrate failed on this file (our bug)",
        notes=(f"in {unit.path}", *text.strip().splitlines()),
    )
    status = FileStatus(unit.path, "unparsed", elapsed)
    return UnitReport(unit.path, (status,), (), (), (), (bug,), (unit.path,), elapsed)


def _library_findings(analysis: UnitAnalysis) -> tuple[Diagnostic, ...]:
    """TM3001, once a function and file; the CUDA runtime is not a library in this sense."""
    sites: dict[tuple[str, str], list[LibraryCall]] = {}
    for call in analysis.calls:
        if call.library != "cuda":
            sites.setdefault((call.span.file, call.api), []).append(call)
    found = []
    for (_, api), calls in sites.items():
        count = f" ({len(calls)} calls)" if len(calls) > 1 else ""
        headline = f"{api} has no equivalent yet{count}"
        found.append(diagnostic("TM3001", calls[0].span, headline=headline))
    return tuple(found)


def _launches(analysis: UnitAnalysis) -> tuple[LaunchReport, ...]:
    rows = {
        (str(x.span), x.kernel_usr): LaunchReport(
            kernel=x.kernel_name,
            file=x.span.file,
            line=x.span.line,
            grid=x.grid_text,
            block=x.block_text,
            smem=x.shared_text,
            stream=x.stream,
            resolved=x.resolved,
        )
        for x in analysis.launches
    }
    return tuple(rows.values())


def _store(job: Job, report: UnitReport, started: int) -> None:
    """Cache ``report`` unless it holds our bug or misses a header that may yet appear.

    ``started`` is the wall clock in ns: a file that changed since then is not what was judged.
    """
    everything = (*report.diagnostics, *(d for k in report.kernels for d in k.diagnostics))
    passing = any(d.code.startswith("TM9") or d.code in _PASSING for d in everything)
    if job.options.cache is None or passing or _changed(job, report, started):
        return
    stage = job.options.stage(verified=job.options.verify)
    try:
        job.options.cache.store(job.unit, stage, report.user_files, report)
    except (OSError, RecursionError):
        return  # an unwritable cache only costs time


def _changed(job: Job, report: UnitReport, started: int) -> bool:
    """Whether a file of the unit was written after ``started``, by its own or its link's time."""
    try:
        times = [os.stat(name) for name in (job.unit.path, *report.user_files)]
    except OSError:
        return True
    return any(max(t.st_mtime_ns, t.st_ctime_ns) >= started for t in times)


_PASSING = frozenset({"TM0001", "TM0003", "TM0007", "TM5005", "TM5006"})
"""Codes whose cause lies outside the files that the cache watches."""


def _run_parallel(
    jobs: Sequence[Job],
    indices: Sequence[int],
    workers: int,
    finish: Callable[[int, UnitReport], None],
) -> list[int]:
    """Run ``indices`` in a pool; return those whose worker died before they finished."""
    lost: list[int] = []
    with _pool(min(workers, len(indices))) as pool:
        pending: dict[Future[UnitReport], int] = {}
        for index in indices:
            try:
                pending[pool.submit(process_unit, jobs[index])] = index
            except BrokenProcessPool:
                lost.append(index)
        for future in as_completed(pending):
            try:
                report = future.result()
            except BrokenProcessPool:
                lost.append(pending[future])
            else:
                finish(pending[future], report)
    return sorted(lost)


def guarded(command: Callable[[], int], expected: type[Exception]) -> int:
    """Run a whole command; a bug outside every kernel prints its traceback and gives 101.

    ``expected`` passes: it is the caller's way to say that the user has to correct something.
    """
    try:
        return command()
    except expected:
        raise
    except Exception:
        traceback.print_exc()
        print("error[TM9001]: tile-migrate failed (our bug)", file=sys.stderr)
        return 101


def _run_alone(job: Job) -> UnitReport:
    """Run a job in a process of its own and report its death as a bug."""
    started = time.perf_counter()
    with _pool(1) as pool:
        try:
            return pool.submit(process_unit, job).result()
        except BrokenProcessPool as error:
            return _failed_unit(job.unit, f"the worker process died: {error}", started)


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
