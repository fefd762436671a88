"""Verify the kernels of a translation unit: build the original once, judge every kernel apart.

Each kernel runs in a forked child with a time limit, so that a crash or a hang costs that kernel
only.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, LaunchFact, UnitAnalysis
from hipify_tile.compat import user_cache_dir
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import Emission, Level, LevelResult
from hipify_tile.verify.coverage import Meter, instrument
from hipify_tile.verify.executors import Original
from hipify_tile.verify.isolate import Lost, isolated
from hipify_tile.verify.judge import Judge, Limits
from hipify_tile.verify.lowering import LoweringError, precompiled_headers
from hipify_tile.verify.model import Outcome, Verification
from hipify_tile.verify.oracle import OracleFailure, OracleLibrary, build_oracle
from hipify_tile.verify.rewrites import Rewritten
from hipify_tile.verify.trial import Rewritten as Runnable

Verdicts = dict[Level, Verification]
Rewriting = Callable[[Kernel, Emission, Path], Runnable]
"""Makes an emission executable; the folder is for what it builds."""


def verify_kernels(
    analysis: UnitAnalysis,
    emitted: Mapping[str, Sequence[LevelResult]],
    *,
    seed: int = 0,
    limits: Limits | None = None,
    save_failures: Path | None = None,
    cxx: str = "g++",
    rewriting: Rewriting = Rewritten,
) -> dict[str, Verdicts]:
    """Execute every emission in ``emitted`` (by kernel id) against the original.

    Returns a verdict for each level that has an emission. ``save_failures`` is a folder for the
    cases that differ, ``rewriting`` makes what is executed of an emission. Raises RuntimeError with
    the child's traceback on a bug of ours.
    """
    work: list[tuple[KernelFact, tuple[Emission, ...]]] = []
    for fact in analysis.kernels:
        emissions = tuple(r.emission for r in emitted.get(fact.id, ()) if r.emission is not None)
        if fact.kernel is not None and emissions:
            work.append((fact, emissions))
    if not work:
        return {}
    if shutil.which(cxx) is None:
        return {f.id: _all(f, e, seed, "TM5006") for f, e in work}
    with tempfile.TemporaryDirectory(prefix="tile-migrate-") as scratch:
        cache = Path(scratch)
        _share_headers(cache, cxx)
        built = build_oracle(
            analysis, [f for f, _ in work], cache, cxx, instrument=instrument(cache)
        )
        if isinstance(built, OracleFailure):
            return {f.id: _all(f, e, seed, "TM5002", built.message) for f, e in work}
        import tilelang  # noqa: F401  (the children inherit it)

        common = (seed, limits or Limits(), save_failures, rewriting)
        return {
            fact.id: _verdicts(fact, emissions, analysis, built, cache, *common)
            for fact, emissions in work
        }


def _share_headers(cache: Path, cxx: str) -> None:
    """Let ``cache`` use the precompiled headers of earlier runs; a failure only costs time."""
    shared = user_cache_dir() / "headers"
    with contextlib.suppress(OSError):
        prelude = shared / "prelude"
        prelude.mkdir(parents=True, exist_ok=True)
        (cache / prelude.name).symlink_to(prelude)
    with contextlib.suppress(OSError, LoweringError):
        headers = precompiled_headers(shared, cxx)
        (cache / headers.name).symlink_to(headers)


def _verdicts(
    fact: KernelFact,
    emissions: tuple[Emission, ...],
    analysis: UnitAnalysis,
    built: OracleLibrary,
    cache: Path,
    seed: int,
    limits: Limits,
    save_failures: Path | None,
    rewriting: Rewriting,
) -> Verdicts:
    if fact.id not in built.entries:
        return _all(fact, emissions, seed, "TM5002", built.failed.get(fact.id, ""))
    launches = [x for x in analysis.launches if x.kernel_usr == fact.usr]
    task = partial(
        _judge, fact, emissions, launches, built, cache, seed, limits, save_failures, rewriting
    )
    answer = isolated(task, limits.seconds * 6 + 60 * len(emissions))
    if not isinstance(answer, Lost):
        return answer
    if answer.error:
        raise RuntimeError(f"{fact.id}: {answer.error}")
    why = f"the process that ran it ended with {answer.reason}"
    if answer.reason in ("timeout", "stalled"):
        return _all(fact, emissions, seed, "TM5005", why)
    if len(emissions) == 1:
        return _all(fact, emissions, seed, "TM9001", why)
    verdicts: Verdicts = {}
    for emission in emissions:  # the others need not suffer from the one that crashes
        alone = (emission,)
        verdicts |= _verdicts(
            fact, alone, analysis, built, cache, seed, limits, save_failures, rewriting
        )
    return verdicts


def _judge(
    fact: KernelFact,
    emissions: tuple[Emission, ...],
    launches: Sequence[LaunchFact],
    built: OracleLibrary,
    cache: Path,
    seed: int,
    limits: Limits,
    save_failures: Path | None,
    rewriting: Rewriting,
) -> Verdicts:
    """Runs in the child: load the original and judge every level."""
    assert fact.kernel is not None
    loaded = built.load()
    original = Original(fact.kernel, loaded, loaded.entries[fact.id])
    rewrites = [(e, rewriting(fact.kernel, e, cache)) for e in emissions]
    return Judge(
        fact,
        fact.kernel,
        launches,
        original,
        rewrites,
        measure=Meter(cache, built.path, fact, fact.kernel).measure,
        seed=seed,
        limits=limits,
        save_failures=save_failures,
    ).judge()


def _all(
    fact: KernelFact, emissions: Sequence[Emission], seed: int, code: str, note: str = ""
) -> Verdicts:
    """The same verdict for every level: unverified because of ``code``."""
    why = diagnostic(code, fact.span, kernel=fact.id, notes=(note,) if note else ())
    return {
        e.level: Verification(Outcome.UNVERIFIED, seed=seed, diagnostics=(why,)) for e in emissions
    }
