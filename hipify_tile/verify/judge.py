"""The verdict on every level of one kernel: draws cases, runs original and rewrites, compares.

``verified`` needs all of: enough cases compared, no difference, every buffer that the kernel can
write changed by some case, every basic block of the original entered by some case, and an
original whose result is one. Anything less is ``unverified`` with the reason, a difference is a
``mismatch``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hipify_tile.analyzer.model import KernelFact, LaunchFact
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.verify.allocation import beyond_allocation, race_of_launches
from hipify_tile.verify.cases import Case
from hipify_tile.verify.coverage import Coverage, CoverageError
from hipify_tile.verify.expectation import changed
from hipify_tile.verify.inputs import CaseSearch, Original
from hipify_tile.verify.model import Verification
from hipify_tile.verify.reference import Reference, reference
from hipify_tile.verify.roles import Roles, roles_of
from hipify_tile.verify.trial import Rewritten, Subject, Trial


@dataclass(frozen=True, slots=True)
class Limits:
    """Effort for one kernel: ``cases`` is the number aimed at, ``seconds`` the CPU time for finding
    them and running the original. What rewrites cost is limited elsewhere: building one may take
    longer than running it on every case.
    """

    cases: int = 12
    most_cases: int = 32
    least_cases: int = 5
    attempts: int = 120
    seconds: float = 20.0


_ALIASED = {2: slice(0, None, 2), 5: slice(1, None, 2)}
"""After how many cases which of the variants with aliases are taken, where they are many."""


Measure = Callable[[], Coverage]


@dataclass(slots=True)
class _Seen:
    """What the cases so far have shown of the original; ``ended`` says that time ran out.

    ``alone`` cases without aliases have one result, in ``races`` others threads race, as in
    ``race``.
    """

    cases: list[str] = field(default_factory=list)
    alone: int = 0
    races: int = 0
    race: str = ""
    changed: set[str] = field(default_factory=set)
    dropped: Counter[str] = field(default_factory=Counter)
    problem: str = ""
    ended: bool = False


class Judge:
    """One kernel's verification; ``judge()`` returns a verdict for each level given.

    ``accepted`` are the cases with one result, as compared.
    """

    def __init__(
        self,
        fact: KernelFact,
        kernel: Kernel,
        launches: Sequence[LaunchFact],
        original: Original,
        rewrites: Sequence[tuple[Emission, Rewritten]],
        *,
        measure: Measure,
        seed: int = 0,
        limits: Limits | None = None,
        save_failures: Path | None = None,
    ) -> None:
        self._fact = fact
        self._kernel = kernel
        self._launches = tuple(launches)
        self._original = original
        self._subject = Subject(
            fact, kernel, self._launches, original, seed, save_failures, time.perf_counter()
        )
        self._levels = [Trial(self._subject, e, r) for e, r in rewrites]
        self._measure = measure
        self._limits = limits or Limits()
        self._roles: Roles = roles_of(kernel)
        self._search = CaseSearch(kernel, self._roles, launches, original, seed)
        self._seen = _Seen()
        self.accepted: list[tuple[Case, Reference]] = []
        self._cpu = time.process_time()

    def judge(self) -> dict[Level, Verification]:
        """Run the cases and return the verdicts."""
        for item in self._levels:
            item.failure = item.misfit()
        self._run_cases()
        if not self._seen.problem:
            self._seen.problem = race_of_launches(self._search, self._original)
        gap = self._gap()
        beyond = tuple(beyond_allocation(self._fact, self._search, self._original))
        verdicts = {i.emission.level: self._verdict(i, gap) for i in self._levels}
        return {
            level: replace(v, diagnostics=(*v.diagnostics, *beyond))
            for level, v in verdicts.items()
        }

    def again(self, emission: Emission, rewritten: Rewritten) -> Verification:
        """Hold another rewrite against the results that ``judge`` established.

        The original is not executed again, except for error bounds.
        """
        item = Trial(self._subject, emission, rewritten)
        for case, answer in self.accepted:
            item.hold(case, answer)
            if item.failure is not None:
                break
        return self._verdict(item, None)

    def _run_cases(self) -> None:
        limits, seen = self._limits, self._seen
        done = 0  # without the variants with aliases, which say little else
        for attempt, case in enumerate(self._search, 1):
            if case is not None:
                taken = len(seen.cases)
                self._take(case)
                done += len(seen.cases) - taken
                if done in _ALIASED and len(seen.cases) > taken:
                    variants = list(self._search.aliased(case))
                    for variant in variants[_ALIASED[done] if len(variants) > 8 else slice(None)]:
                        if self._original.run(variant).ok:
                            self._take(variant, alias=True)
            rewrites = sum(item.seconds for item in self._levels)
            seen.ended = time.process_time() - self._cpu - rewrites > limits.seconds
            if seen.problem or attempt >= limits.attempts or seen.ended:
                return
            if all(item.failure for item in self._levels):
                return
            if done >= limits.most_cases:
                return
            if done >= limits.cases and case is not None and self._enough():
                return

    def _enough(self) -> bool:
        if not self._subject.written <= self._seen.changed:
            self._search.launches.insist()
            return False
        if any(
            item.failure is None
            and (
                item.compared < self._limits.least_cases or not self._subject.written <= item.shown
            )
            for item in self._levels
        ):
            return False
        try:
            coverage = self._measure()
        except CoverageError:
            return True
        if coverage.unreached or coverage.one_sided:
            self._search.launches.insist()
            return False
        return True

    def _take(self, case: Case, *, alias: bool = False) -> None:
        """Establish the original's result for ``case`` and hold every live level against it."""
        answer = reference(self._original, case, self._roles)
        if answer.problem:
            self._seen.dropped[answer.problem] += 1
            # A guessed launch that repeats every thread is hardly what a kernel is written for.
            repeated = self._search.launches.repeats(case.launch)
            if answer.race and not (alias or repeated):
                seen = self._seen
                seen.races += 1
                seen.race = seen.race or f"{answer.problem}; {case}"
            intended = case.launch.real or not (self._launches or repeated)
            if intended and not alias and answer.status == "":
                self._seen.problem = self._seen.problem or f"{answer.problem}; {case}"
            return
        self._seen.changed |= changed(case, answer)
        self._seen.cases.append(str(case))
        self._seen.alone += not alias
        self.accepted.append((case, answer))
        for item in self._levels:
            if item.failure is None:
                item.hold(case, answer)

    def _gap(self) -> Diagnostic | None:
        """What the cases leave unproven for every level alike; None if nothing."""
        seen = self._seen
        if seen.problem:
            return self._subject.diagnostic("TM5004", notes=(seen.problem,))
        if seen.cases and seen.races > seen.alone:
            # The few cases that do not race leave most threads idle.
            share = f"threads race in {seen.races} of {seen.races + seen.alone} cases"
            return self._subject.diagnostic("TM5004", notes=(share, seen.race))
        if not seen.cases:
            failures = self._search.failures + seen.dropped
            tried = tuple(f"{n} attempts: {why}" for why, n in failures.most_common(4))
            if seen.ended or (failures and all(why.startswith("timeout") for why in failures)):
                return self._subject.diagnostic("TM5005", notes=tried)
            if seen.dropped and seen.dropped.total() * 2 > failures.total():
                return self._subject.diagnostic("TM5004", notes=tried)
            return self._no_inputs(tried)
        unchanged = sorted(self._subject.written - seen.changed)
        if unchanged:
            idle = f"no case changes {', '.join(unchanged)}"
            outside = sum(self._search.failures[why] for why in self._search.examples)
            # What stays in bounds does nothing: that inputs are missing is the cause.
            if outside > len(seen.cases):
                return self._no_inputs((idle, f"{outside} attempts leave a buffer"))
            return self._subject.diagnostic("TM5007", notes=(idle,))
        if not self._subject.written:
            return self._subject.diagnostic("TM5007", notes=("the kernel writes nothing",))
        try:
            coverage = self._measure()
        except CoverageError as error:
            return self._subject.diagnostic("TM5007", notes=(f"coverage is unknown: {error}",))
        if coverage.unreached:
            lines = ", ".join(f"{Path(f).name}:{n}" for f, n in coverage.unreached[:5])
            return self._subject.diagnostic("TM5007", notes=(f"not executed: {lines}",))
        return None

    def _no_inputs(self, tried: tuple[str, ...]) -> Diagnostic:
        """TM5003: which access stopped the original, and what decides where it goes."""
        examples = self._search.examples
        usual = (why for why, _ in self._search.failures.most_common() if why in examples)
        leaf, shown = examples.get(next(usual, ""), ("", ""))
        if not leaf:
            return self._subject.diagnostic("TM5003", notes=tried)
        sources = sorted(s for s, targets in self._roles.index_of.items() if leaf in targets)
        notes = (*tried, f"for example {shown}")
        if sources:
            notes += (f"where {leaf} is accessed depends on the values in {', '.join(sources)}",)
            help = f"check the values of {', '.join(sources)} before they index {leaf}"
        else:
            help = f"compare the index with the size of {leaf} before the access"
        return self._subject.diagnostic("TM5003", notes=notes, help=help)

    def _verdict(self, item: Trial, gap: Diagnostic | None) -> Verification:
        least, ended = self._limits.least_cases, self._seen.ended
        return item.verdict(gap, self._seen.cases, least, ended=ended)
