"""Whether a mutant that verification accepts is equivalent: many more cases decide.

Another seed with more cases, and every small size: scalar sizes, grids and blocks counted
through from one.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from hipify_tile.analyzer.model import KernelFact, UnitAnalysis
from hipify_tile.rewriter.model import Emission
from hipify_tile.verify.cases import Case, Launch
from hipify_tile.verify.coverage import Coverage
from hipify_tile.verify.executors import Original
from hipify_tile.verify.inputs import CaseSearch
from hipify_tile.verify.judge import Judge, Limits
from hipify_tile.verify.model import Outcome, Verification
from hipify_tile.verify.reference import Reference, reference
from hipify_tile.verify.rewrites import Rewritten
from hipify_tile.verify.roles import roles_of

SEEDS = (1001,)
LIMITS = Limits(cases=16, most_cases=16, attempts=60, seconds=40)
_SMALL = 120


@dataclass
class Audit:
    """More cases for one kernel, made when the first mutant of any level needs them.

    ``emission`` is a right one: drawing cases goes on while one holds.
    """

    analysis: UnitAnalysis
    fact: KernelFact
    original: Original
    emission: Emission
    scratch: Path
    _unmutated: dict[str, Rewritten] = field(default_factory=dict)

    def prepare(self) -> None:
        """Make the cases, which do not depend on the mutant."""
        for _ in self._judges():
            pass

    def fate(self, changed: Emission, rewritten: Rewritten, right: Emission) -> tuple[str, str]:
        """``survivor`` with the case that shows it, or ``equivalent`` with the number of cases.

        A case on which ``right`` itself, what ``changed`` is a mutant of, differs from the original
        shows nothing of the mutant; it is told.
        """
        compared = 0
        wrong = ""
        for judge in self._judges():
            for accepted in judge.accepted:
                verdict = _alone(judge, accepted, changed, rewritten)
                if verdict.outcome is Outcome.VERIFIED or verdict.diagnostics[0].code == "TM5007":
                    compared += verdict.inputs
                elif self._fair(judge, accepted, right):
                    return "survivor", " ".join(verdict.diagnostics[0].notes)[:400]
                else:
                    wrong = f"; THE UNCHANGED PROGRAM DIFFERS on {accepted[0]}"
        return "equivalent", f"{compared} cases{wrong}"

    def _judges(self) -> Iterator[Judge]:
        yield self._small
        yield from self._seeded

    @cached_property
    def _small(self) -> Judge:
        judge = self._judge(0)
        for case in self._small_cases(judge):
            answer = reference(self.original, case, roles_of(self.fact.kernel))
            if not answer.problem:
                judge.accepted.append((case, answer))
        return judge

    def _fair(self, judge: Judge, accepted: tuple[Case, Reference], right: Emission) -> bool:
        """Whether the unchanged emission agrees: else what the case reads is undefined."""
        assert self.fact.kernel is not None
        key = right.source
        if key not in self._unmutated:
            self._unmutated[key] = Rewritten(self.fact.kernel, right, self.scratch)
        verdict = _alone(judge, accepted, right, self._unmutated[key])
        return verdict.outcome is not Outcome.MISMATCH

    @cached_property
    def _seeded(self) -> list[Judge]:
        judges = [self._judge(seed) for seed in SEEDS]
        for judge in judges:
            judge.judge()
        return judges

    def _judge(self, seed: int) -> Judge:
        kernel = self.fact.kernel
        assert kernel is not None
        return Judge(
            self.fact, kernel, self._launches(), self.original, [(self.emission, self._unchanged)],
            measure=_unmeasured, seed=seed, limits=LIMITS,
        )  # fmt: skip

    @cached_property
    def _unchanged(self) -> Rewritten:
        assert self.fact.kernel is not None
        return Rewritten(self.fact.kernel, self.emission, self.scratch)

    def _launches(self):
        return [x for x in self.analysis.launches if x.kernel_usr == self.fact.usr]

    def _small_cases(self, judge: Judge) -> Iterator[Case]:
        kernel = self.fact.kernel
        assert kernel is not None
        roles = roles_of(kernel)
        search = CaseSearch(kernel, roles, self._launches(), self.original, 77)
        shapes = list(_small_launches(next(iter(search.launches)), roles))
        order = np.random.default_rng(5).permutation(len(shapes))[:_SMALL]
        for turn, at in enumerate(order):
            profile = ("mixed", "exact", "positive", "special")[turn % 4]
            case = search.case(shapes[at], profile, end_flush=turn % 3 != 2)
            if case is not None:
                yield case


def _alone(
    judge: Judge, accepted: tuple[Case, Reference], emission: Emission, rewritten: Rewritten
) -> Verification:
    """The verdict of ``judge`` on one case only."""
    one = copy.copy(judge)
    one.accepted = [accepted]
    return one.again(emission, rewritten)


def _unmeasured() -> Coverage:
    return Coverage(0, (), ())


def _small_launches(base: Launch, roles) -> Iterator[Launch]:
    """``base`` with every small combination of sizes, grid and block; the original rejects some."""
    sizes = [n for n, v in base.scalars.items() if n in roles.sizes and isinstance(v, int)]
    grids = list(itertools.product(*((1, 2, 3) if g > 1 else (1,) for g in base.grid)))
    blocks = [base.block]
    blocks += itertools.product(*((1, 2, 3, 5, 8) if b > 1 else (1,) for b in base.block))
    values = range(0, 10) if len(sizes) <= 2 else (0, 1, 2, 3, 5, 6)
    for grid, block in itertools.product(grids, blocks):
        for chosen in itertools.product(values, repeat=min(len(sizes), 4)):
            scalars = base.scalars | dict(zip(sizes, chosen, strict=False))
            yield replace(
                base, label="small", grid=grid, block=block, scalars=scalars,
                extents=dict.fromkeys(base.extents), real=False,
            )  # fmt: skip
