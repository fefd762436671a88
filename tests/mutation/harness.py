"""Run mutants of one unit's emissions against results of the original that are established once."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import mutators

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.coverage import Meter, instrument
from hipify_tile.verify.executors import Original
from hipify_tile.verify.isolate import Lost, isolated
from hipify_tile.verify.judge import Judge, Limits
from hipify_tile.verify.lowering import LoweringError, lower
from hipify_tile.verify.model import Outcome
from hipify_tile.verify.oracle import OracleFailure, build_oracle
from hipify_tile.verify.rewrites import Rewritten


@dataclass(frozen=True)
class Tally:
    """Mutants of one unit: ``invalid`` do not lower, ``identical`` lower to the same source,
    ``equivalent`` agree on many more cases, ``survivors`` are wrong and were not rejected."""

    rejected: int = 0
    invalid: int = 0
    identical: int = 0
    equivalent: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.rejected + other.rejected,
            self.invalid + other.invalid,
            self.identical + other.identical,
            self.equivalent + other.equivalent,
            self.survivors + other.survivors,
        )


def run_unit(path: Path, scratch: Path, per_kernel: int, seed: int = 0) -> Tally:
    """Mutate the loop emission of every kernel of ``path`` that verifies."""
    analysis = analyze_unit(CompileUnit(str(path), str(path.parent), (), str(path.parent)))
    facts = [f for f in analysis.kernels if f.kernel is not None]
    built = build_oracle(analysis, facts, scratch, instrument=instrument(scratch))
    assert not isinstance(built, OracleFailure), built
    total = Tally()
    for fact in facts:

        def task(fact=fact) -> Tally:
            (result,) = emit_levels(fact.kernel, levels=(Level.LOOP,))
            emission = result.emission
            if emission is None or fact.id not in built.entries:
                return Tally()
            loaded = built.load()
            original = Original(fact.kernel, loaded, loaded.entries[fact.id])
            launches = [x for x in analysis.launches if x.kernel_usr == fact.usr]

            def judge_with(number: int, limits: Limits) -> Judge:
                rewritten = Rewritten(fact.kernel, emission, scratch)
                measure = Meter(scratch, built.path, fact, fact.kernel).measure
                return Judge(
                    fact, fact.kernel, launches, original, [(emission, rewritten)],
                    measure=measure, seed=number, limits=limits,
                )  # fmt: skip

            judge = judge_with(seed, Limits())
            if judge.judge()[Level.LOOP].outcome is not Outcome.VERIFIED:
                return Tally()
            more: list[Judge] = []
            options = {"shared_bytes": 4096} if "shared_bytes" in emission.options else {}
            text = lower(emission, "c", options).source
            every = mutators.mutants(emission.source)
            random.Random(fact.id).shuffle(every)
            tally = Tally()
            for mutant in every[:per_kernel]:
                label = f"{fact.id}:{mutant.line} {mutant.operator}: {mutant.what}"
                changed = replace(emission, source=mutant.source)
                try:
                    if lower(changed, "c", options).source == text:
                        tally += Tally(identical=1)
                        continue
                except LoweringError:
                    tally += Tally(invalid=1)
                    continue
                rewritten = Rewritten(fact.kernel, changed, scratch, time_limit_ms=1500)
                found = judge.again(changed, rewritten)
                if any(d.code == "TM2402" for d in found.diagnostics):
                    tally += Tally(invalid=1)
                elif found.outcome is not Outcome.VERIFIED:
                    tally += Tally(rejected=1)
                else:
                    while len(more) < 3:
                        other = judge_with(1000 + len(more), Limits(cases=32, most_cases=64))
                        other.judge()
                        more.append(other)
                    wrong = any(
                        j.again(changed, rewritten).outcome is not Outcome.VERIFIED for j in more
                    )
                    one = (label,)
                    tally += Tally(survivors=one) if wrong else Tally(equivalent=one)
            return tally

        answer = isolated(task, 600)
        if isinstance(answer, Lost):
            raise RuntimeError(f"{fact.id}: {answer.reason} {answer.error}")
        total += answer
    return total
