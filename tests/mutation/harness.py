"""Run mutants of one unit's emissions against results of the original that are established once.

The verdicts are those of ``verify.judge``: same cases, same guarded memory, same comparison. A
mutant that it accepts is held against many more cases before it is called equivalent.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from audit import Audit
from builds import Prebuilt, compiled
from mutators import Mutant, mutants

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit, KernelFact, UnitAnalysis
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.coverage import Meter, instrument
from hipify_tile.verify.executors import Original
from hipify_tile.verify.isolate import Lost, isolated
from hipify_tile.verify.judge import Judge
from hipify_tile.verify.lowering import Lowered, LoweringError, lower
from hipify_tile.verify.model import Outcome, Verification
from hipify_tile.verify.oracle import OracleFailure, OracleLibrary, build_oracle
from hipify_tile.verify.rewrites import Key, Rewritten

T = TypeVar("T")
LEVELS = (Level.SIMT, Level.LOOP, Level.TILE)
_TIME_LIMIT_MS = 500
_SECONDS = 60
"""CPU time for a mutant to be judged in: the limit of a run, some dozens of runs."""


@dataclass(frozen=True)
class Tried:
    """A mutant and its ``fate``.

    ``invalid``: it does not lower or compile. ``identical``: it lowers to the source of the
    original or of a mutant before. ``rejected``: not verified, because of ``why``. ``equivalent``:
    it agrees with the original on all cases of the audit. ``survivor``: verified, and wrong.
    """

    kernel: str
    level: str
    operator: str
    diff: str
    fate: str
    why: str = ""


@dataclass(frozen=True)
class Quota:
    """How many mutants of an emission to execute, beside those that are never sampled away.

    ``nodes`` is the largest size of a tile emission's syntax tree: a large one takes ten seconds
    to lower.
    """

    loop: int = 5
    tile: int = 6
    barriers: int = 1
    nodes: int = 900

    def of(self, emission: Emission) -> int:
        """Fewer of tiles in two dimensions, whose lowering takes seconds."""
        if emission.level is Level.TILE:
            return self.tile // max(1, _tiled(emission))
        return self.loop


def run_unit(
    path: Path, scratch: Path, headers: Path, quota: Quota
) -> tuple[list[Tried], list[str]]:
    """Mutate the emissions of every kernel of ``path`` that verify; also tell what was left out.

    ``headers`` is what ``precompiled_headers`` returned.
    """
    scratch.mkdir(parents=True)
    (scratch / headers.name).symlink_to(headers)
    analysis = analyze_unit(CompileUnit(str(path), str(path.parent), (), str(path.parent)))
    facts = _representatives([f for f in analysis.kernels if f.kernel is not None])
    built = build_oracle(analysis, facts, scratch, instrument=instrument(scratch))
    assert not isinstance(built, OracleFailure), built
    tried: list[Tried] = []
    left_out: list[str] = []
    for fact in facts:
        bench = _Bench(analysis, built, fact, scratch, quota)
        answer = isolated(bench.run, 600)
        if isinstance(answer, Lost):
            raise RuntimeError(f"{fact.id}: {answer.reason} {answer.error}")
        tried += answer[0]
        left_out += answer[1]
    return tried, left_out


@dataclass
class _Bench:
    """One kernel: runs in a child of its own."""

    analysis: UnitAnalysis
    built: OracleLibrary
    fact: KernelFact
    scratch: Path
    quota: Quota

    @cached_property
    def original(self) -> Original:
        assert self.fact.kernel is not None
        loaded = self.built.load()
        return Original(self.fact.kernel, loaded, loaded.entries[self.fact.id])

    @cached_property
    def audit(self) -> Audit:
        assert self.fact.kernel is not None
        (loop,) = emit_levels(self.fact.kernel, levels=(Level.LOOP,))
        assert loop.emission is not None
        return Audit(self.analysis, self.fact, self.original, loop.emission, self.scratch)

    def run(self) -> tuple[list[Tried], list[str]]:
        fact, kernel = self.fact, self.fact.kernel
        assert kernel is not None
        if fact.id not in self.built.entries:
            return [], [f"{fact.id}: no reference build"]
        results = emit_levels(kernel, levels=LEVELS)
        every = [r.emission for r in results if r.emission is not None]
        emissions = [e for e in every if _wanted(e, self.quota)]
        judge = Judge(
            fact,
            kernel,
            [x for x in self.analysis.launches if x.kernel_usr == fact.usr],
            self.original,
            [(e, Rewritten(kernel, e, self.scratch)) for e in emissions],
            measure=Meter(self.scratch, self.built.path, fact, kernel).measure,
        )
        verdicts = judge.judge()
        tried: list[Tried] = []
        left_out = [
            f"{fact.id} tile: slow to lower"
            for e in every
            if e.level is Level.TILE and not _wanted(e, self.quota)
        ]
        for emission in emissions:
            verdict = verdicts[emission.level]
            if verdict.outcome is not Outcome.VERIFIED:
                left_out.append(f"{fact.id} {emission.level.value}: {_why(verdict)}")
            elif emission.level is Level.SIMT:
                tried += self._barriers(emission, judge)
            else:
                tried += self._level(emission, judge)
        return tried, left_out

    def _level(self, emission: Emission, judge: Judge) -> list[Tried]:
        kernel = self.fact.kernel
        assert kernel is not None
        keys = _keys(emission, judge)
        tried: list[Tried] = []
        chosen: list[tuple[Mutant, list[Lowered]]] = []
        for mutant, programs in self._lowered(emission, keys):
            if isinstance(programs, str):
                tried.append(self._tried(emission, mutant, programs))
            else:
                chosen.append((mutant, programs))
        entries = iter(compiled([low for _, programs in chosen for low in programs], self.scratch))
        for mutant, programs in chosen:
            built = [next(entries) for _ in programs]
            if None in built:
                tried.append(self._tried(emission, mutant, "invalid"))
                continue
            builds = {k: (p, b or 0) for k, p, b in zip(keys, programs, built, strict=True)}
            changed = replace(emission, source=mutant.source)
            rewritten = Prebuilt(kernel, changed, self.scratch, builds, _TIME_LIMIT_MS)
            tried.append(self._held(emission, mutant, rewritten, judge))
        return tried

    def _barriers(self, emission: Emission, judge: Judge) -> list[Tried]:
        """Drop barriers of the thread-for-thread program, some of them: each is a slow build."""
        kernel = self.fact.kernel
        assert kernel is not None
        drops = [m for m in mutants(emission.source, self.fact.id) if m.operator == "barrier-drop"]
        tried: list[Tried] = []
        for mutant in drops[: self.quota.barriers]:
            changed = replace(emission, source=mutant.source)
            rewritten = Rewritten(kernel, changed, self.scratch, _TIME_LIMIT_MS)
            tried.append(self._held(emission, mutant, rewritten, judge))
        return tried

    def _held(
        self, emission: Emission, mutant: Mutant, rewritten: Rewritten, judge: Judge
    ) -> Tried:
        """Judge in a child: a mutant may write anywhere, and what kills the process is rejected."""
        changed = replace(emission, source=mutant.source)
        verdict = self._apart(partial(judge.again, changed, rewritten))
        if isinstance(verdict, Lost):
            return self._tried(emission, mutant, "rejected", verdict.reason)
        if verdict.outcome is Outcome.VERIFIED:
            self.audit.prepare()
            fate = self._apart(partial(self.audit.fate, changed, rewritten, emission))
            if isinstance(fate, Lost):
                fate = "survivor", f"the audit's process ended with {fate.reason}"
            return self._tried(emission, mutant, *fate)
        invalid = any(d.code in ("TM2401", "TM2402") for d in verdict.diagnostics)
        fate = "invalid" if invalid else "rejected"
        return self._tried(emission, mutant, fate, _why(verdict))

    def _apart(self, task: Callable[[], T]) -> T | Lost:
        """Run in a child; raises RuntimeError for an exception in it, which is a bug of ours."""
        answer = isolated(task, _SECONDS)
        if isinstance(answer, Lost) and answer.error:
            raise RuntimeError(f"{self.fact.id}: {answer.error}")
        return answer

    def _lowered(
        self, emission: Emission, keys: list[Key]
    ) -> Iterator[tuple[Mutant, list[Lowered] | str]]:
        """Yield mutants with a program for each key, or with their fate, until the quota is met."""
        options = [_options(k) for k in keys]
        seen = {lower(emission, "c", options[0]).source}
        executed = 0
        for mutant in mutants(emission.source, self.fact.id):
            if executed >= self.quota.of(emission) and not mutant.kept:
                return
            changed = replace(emission, source=mutant.source)
            try:
                first = lower(changed, "c", options[0])
                if first.source in seen:
                    yield mutant, "identical"
                    continue
                seen.add(first.source)
                programs = [first, *(lower(changed, "c", o) for o in options[1:])]
            except LoweringError:
                yield mutant, "invalid"
                continue
            executed += not mutant.kept
            yield mutant, programs

    def _tried(self, emission: Emission, mutant: Mutant, fate: str, why: str = "") -> Tried:
        name, level = self.fact.id, emission.level.value
        return Tried(name, level, mutant.operator, mutant.diff, fate, why)


def _representatives(facts: list[KernelFact]) -> list[KernelFact]:
    """Every kernel, but of a template's instances only two: their mutants are much the same."""
    instances: dict[str, list[KernelFact]] = {}
    for fact in facts:
        instances.setdefault(fact.name, []).append(fact)
    return [fact for same in instances.values() for fact in same[:2]]


def _wanted(emission: Emission, quota: Quota) -> bool:
    """Barriers are what simt is tried for; to lower tiles in three dimensions takes a minute."""
    if emission.level is Level.SIMT:
        return "sync_threads" in emission.source
    if emission.level is Level.LOOP:
        return True
    nodes = sum(1 for _ in ast.walk(ast.parse(emission.source)))
    return _tiled(emission) < 3 and nodes <= quota.nodes


def _tiled(emission: Emission) -> int:
    """In how many dimensions a tile emission has tiles."""
    return sum(
        name.startswith("tile_") or name in ("block_M", "block_N") for name in emission.options
    )


def _keys(emission: Emission, judge: Judge) -> list[Key]:
    """What the emission is built for: as many keys as a rewrite may have, in order of the cases."""
    if "shared_bytes" not in emission.options:
        return [(None, None)]
    sizes = dict.fromkeys(case.launch.shared_bytes for case, _ in judge.accepted)
    return [(None, size) for size in list(sizes)[:2]]


def _options(key: Key) -> dict[str, object]:
    return {} if key[1] is None else {"shared_bytes": key[1]}


def _why(verdict: Verification) -> str:
    return "; ".join(f"{d.code} {' '.join(d.notes)}" for d in verdict.diagnostics)[:300]
