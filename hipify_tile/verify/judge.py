"""The verdict on every level of one kernel: draws cases, runs original and rewrites, compares.

``verified`` needs all of: enough cases compared, no difference, every buffer that the kernel can
write changed by some case, every basic block of the original entered by some case, and an
original whose result is one. Anything less is ``unverified`` with the reason, a difference is a
``mismatch``.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from hipify_tile.analyzer.model import KernelFact, LaunchFact
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.expr import Expr
from hipify_tile.ir.printer import print_expr
from hipify_tile.ir.simt import Kernel, Scope
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.verify.allocation import beyond_allocation
from hipify_tile.verify.assumptions import broken_by, geometry, holds, launch_names
from hipify_tile.verify.cases import Array, Case, save_case, with_flush
from hipify_tile.verify.compare import Comparison, compare, unequal
from hipify_tile.verify.coverage import Coverage, CoverageError
from hipify_tile.verify.evaluate import UnevaluableError, evaluate_int
from hipify_tile.verify.inputs import CaseSearch, Original, Ran
from hipify_tile.verify.model import Outcome, Verification
from hipify_tile.verify.reference import (
    Bounds,
    Reference,
    gamma,
    initial,
    reference,
    rounding_bounds,
)
from hipify_tile.verify.roles import Roles, roles_of


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


UNMET = "an assumed launch condition does not hold"
WIDEST = 1 << 26
"""Bytes by which the buffers of a case may grow to the shapes that an emission declares."""

_ALIASED = {2: slice(0, None, 2), 5: slice(1, None, 2)}
"""After how many cases which of the variants with aliases are taken, where they are many."""


class Rewritten(Protocol):
    """The executable form of one emission."""

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        """Execute ``case`` in guarded memory; status ``skipped`` where it is not built for it.

        ``order`` and ``poison`` are those of the original; without threads they mean nothing.
        """
        ...


Measure = Callable[[], Coverage]


@dataclass(slots=True)
class _Level:
    emission: Emission
    rewritten: Rewritten
    compared: int = 0
    shown: set[str] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    max_abs: float = 0.0
    max_rel: float = 0.0
    tolerance: float = 0.0
    failure: Verification | None = None


@dataclass(slots=True)
class _Seen:
    """What the cases so far have shown of the original; ``ended`` says that time ran out."""

    cases: list[str] = field(default_factory=list)
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
        self._levels = [_Level(e, r) for e, r in rewrites]
        self._measure = measure
        self._seed = seed
        self._limits = limits or Limits()
        self._save = save_failures
        self._roles: Roles = roles_of(kernel)
        self._search = CaseSearch(kernel, self._roles, launches, original, seed)
        self._seen = _Seen()
        self.accepted: list[tuple[Case, Reference]] = []
        self._started = time.perf_counter()
        self._cpu = time.process_time()
        self._rewrites = 0.0

    def judge(self) -> dict[Level, Verification]:
        """Run the cases and return the verdicts."""
        for item in self._levels:
            item.failure = self._misfit(item)
        self._run_cases()
        gap = self._gap()
        beyond = tuple(beyond_allocation(self._fact, self._search, self._original))
        verdicts = {i.emission.level: i.failure or self._verdict(i, gap) for i in self._levels}
        return {
            level: replace(v, diagnostics=(*v.diagnostics, *beyond))
            for level, v in verdicts.items()
        }

    def again(self, emission: Emission, rewritten: Rewritten) -> Verification:
        """Hold another rewrite against the results that ``judge`` established.

        The original is not executed again, except for error bounds.
        """
        item = _Level(emission, rewritten)
        for case, answer in self.accepted:
            self._hold(item, case, answer)
            if item.failure is not None:
                return item.failure
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
            seen.ended = time.process_time() - self._cpu - self._rewrites > limits.seconds
            if seen.problem or attempt >= limits.attempts or seen.ended:
                return
            if all(item.failure for item in self._levels):
                return
            if done >= limits.most_cases:
                return
            if done >= limits.cases and case is not None and self._enough():
                return

    def _enough(self) -> bool:
        if not self._written() <= self._seen.changed:
            self._search.launches.insist()
            return False
        if any(
            item.failure is None
            and (item.compared < self._limits.least_cases or not self._written() <= item.shown)
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
            intended = case.launch.real or not self._launches
            if intended and not alias and answer.status == "":
                self._seen.problem = self._seen.problem or f"{answer.problem}; {case}"
            return
        self._seen.changed |= _changed(case, answer)
        self._seen.cases.append(str(case))
        self.accepted.append((case, answer))
        for item in self._levels:
            if item.failure is None:
                self._hold(item, case, answer)

    def _hold(self, item: _Level, case: Case, answer: Reference) -> None:
        emission = item.emission
        for assumption in emission.assumes:
            if holds(assumption, launch_names(case.launch)):
                continue
            if case.launch.real and holds(assumption, geometry(case.launch)) is False:
                item.failure = self._unfit(item, assumption, str(case.launch))
            item.skipped[f"{UNMET}: {print_expr(assumption)}"] += 1
            return
        bounds: Bounds = dict(answer.bounds)
        if emission.tolerance:
            derived = self._tolerated(emission, case, answer)
            if derived is None:
                item.skipped["no error bound could be derived"] += 1
                return
            for name, bound in derived.items():
                bounds[name] = np.maximum(bounds[name], bound) if name in bounds else bound
        shown = _changed(case, answer, bounds)
        widened = _widen(case, answer, emission)
        if widened is None:
            item.skipped[f"the declared shapes take more than {WIDEST >> 20} MiB"] += 1
            return
        wide, expected, origins = widened
        for end_flush, order, poison in _variants(case, emission.level):
            cpu = time.process_time()
            ran = item.rewritten.run(with_flush(wide, end_flush), order, poison)
            self._rewrites += time.process_time() - cpu
            if ran.status == "skipped":
                item.skipped[ran.detail] += 1
                return
            if not ran.ok:
                item.failure = self._stopped(item, case, ran)
                self._keep(item, wide, expected, {})
                return
            got = {**ran.memory, **{f"global {n}": a for n, a in ran.globals.items()}}
            result = compare(expected, got, origins, _padded(bounds, expected))
            item.max_abs = max(item.max_abs, result.max_abs_error)
            item.max_rel = max(item.max_rel, result.max_rel_error)
            if result.difference is not None:
                item.failure = self._mismatch(item, case, result)
                self._keep(item, wide, expected, got)
                return
        if bounds:
            terms = self._terms(emission, case) if emission.tolerance else case.launch.threads
            item.tolerance = max(item.tolerance, gamma(terms + 2, _dtype_of(bounds, answer)))
        if not shown and any(np.isposinf(b).any() for b in bounds.values()):
            item.skipped["the error bounds of all that changes are infinite"] += 1
            return
        item.shown |= shown
        item.compared += 1

    def _keep(
        self, item: _Level, case: Case, expected: dict[str, Array], got: dict[str, Array]
    ) -> None:
        """Save the case that ``item`` fails, if asked to."""
        if self._save is None or item.failure is None:
            return
        if item.failure.outcome is Outcome.MISMATCH:
            stem = re.sub(r"[^\w.-]+", "_", f"{self._fact.id}-{item.emission.level.value}")
            save_case(case, expected, got, self._save / f"{stem[-200:]}.npz")

    def _terms(self, emission: Emission, case: Case) -> int:
        if emission.reduction_terms is not None:
            try:
                return max(1, evaluate_int(emission.reduction_terms, launch_names(case.launch)))
            except UnevaluableError:
                pass
        return case.launch.threads

    def _tolerated(self, emission: Emission, case: Case, answer: Reference) -> Bounds | None:
        written = {
            n
            for n in (*answer.memory, *answer.globals)
            if n in self._written()
            or any(b.symbol == n and b.written for b in self._kernel.buffers)
        }
        terms = self._terms(emission, case)
        return rounding_bounds(self._original, case, answer, frozenset(written), terms)

    def _written(self) -> set[str]:
        """Pointer leaves and globals that the kernel stores to."""
        out: set[str] = set()
        for b in self._kernel.buffers:
            if b.written and b.scope is Scope.PARAM:
                out.add(b.storage or b.name)
            elif b.written and b.scope is Scope.GLOBAL:
                out.add(b.symbol)
        return out

    def _gap(self) -> Diagnostic | None:
        """What the cases leave unproven for every level alike; None if nothing."""
        seen = self._seen
        if seen.problem:
            return self._diagnostic("TM5004", notes=(seen.problem,))
        if not seen.cases:
            failures = self._search.failures + seen.dropped
            tried = tuple(f"{n} attempts: {why}" for why, n in failures.most_common(4))
            if seen.ended or (failures and all(why.startswith("timeout") for why in failures)):
                return self._diagnostic("TM5005", notes=tried)
            if seen.dropped and seen.dropped.total() * 2 > failures.total():
                return self._diagnostic("TM5004", notes=tried)
            return self._no_inputs(tried)
        unchanged = sorted(self._written() - seen.changed)
        if unchanged:
            return self._diagnostic("TM5007", notes=(f"no case changes {', '.join(unchanged)}",))
        if not self._written():
            return self._diagnostic("TM5007", notes=("the kernel writes nothing",))
        try:
            coverage = self._measure()
        except CoverageError as error:
            return self._diagnostic("TM5007", notes=(f"coverage is unknown: {error}",))
        if coverage.unreached:
            lines = ", ".join(f"{Path(f).name}:{n}" for f, n in coverage.unreached[:5])
            return self._diagnostic("TM5007", notes=(f"not executed: {lines}",))
        return None

    def _no_inputs(self, tried: tuple[str, ...]) -> Diagnostic:
        """TM5003: which access stopped the original, and what decides where it goes."""
        examples = self._search.examples
        usual = (why for why, _ in self._search.failures.most_common() if why in examples)
        leaf, shown = examples.get(next(usual, ""), ("", ""))
        if not leaf:
            return self._diagnostic("TM5003", notes=tried)
        sources = sorted(s for s, targets in self._roles.index_of.items() if leaf in targets)
        notes = (*tried, f"for example {shown}")
        if sources:
            notes += (f"where {leaf} is accessed depends on the values in {', '.join(sources)}",)
            help = f"check the values of {', '.join(sources)} before they index {leaf}"
        else:
            help = f"compare the index with the size of {leaf} before the access"
        return self._diagnostic("TM5003", notes=notes, help=help)

    def _verdict(self, item: _Level, gap: Diagnostic | None) -> Verification:
        if gap is not None:
            return self._verification(item, Outcome.UNVERIFIED, gap)
        if item.compared < self._limits.least_cases:
            notes = [f"only {item.compared} cases were compared"]
            notes += [f"{n} skipped: {why}" for why, n in item.skipped.most_common(3)]
            late = self._seen.ended and item.skipped.total() < self._limits.least_cases
            why = self._diagnostic("TM5005" if late else "TM5007", notes=tuple(notes))
            return self._verification(item, Outcome.UNVERIFIED, why)
        if unshown := sorted(self._written() - item.shown):
            note = f"no case that could be compared changes {', '.join(unshown)}"
            notes = [note, *(f"{n} skipped: {why}" for why, n in item.skipped.most_common(3))]
            lacking = self._diagnostic("TM5007", notes=tuple(notes))
            return self._verification(item, Outcome.UNVERIFIED, lacking)
        return self._verification(item, Outcome.VERIFIED)

    def _stopped(self, item: _Level, case: Case, ran: Ran) -> Verification:
        what = f"{ran.status}: {ran.detail}".rstrip(": ")
        notes = (f"the rewritten kernel ended with {what}", f"on {case}")
        if ran.diagnostics:
            return self._verification(item, Outcome.UNVERIFIED, *ran.diagnostics)
        if ran.status == "timeout":
            return self._verification(
                item, Outcome.UNVERIFIED, self._diagnostic("TM5005", notes=notes)
            )
        return self._verification(item, Outcome.MISMATCH, self._diagnostic("TM5001", notes=notes))

    def _misfit(self, item: _Level) -> Verification | None:
        """A verdict if the values of a launch site break a condition of the emission."""
        for assumption in item.emission.assumes:
            fact = broken_by(assumption, self._kernel, self._launches)
            if fact is not None:
                return self._unfit(
                    item, assumption, f"{Path(fact.span.file).name}:{fact.span.line}"
                )
        return None

    def _unfit(self, item: _Level, assumption: Expr, launch: str) -> Verification:
        notes = (
            f"level {item.emission.level.value} is exact where {print_expr(assumption)}",
            f"a launch of the program is not so: {launch}",
        )
        why = self._diagnostic("TM5007", notes=notes)
        return self._verification(item, Outcome.UNVERIFIED, why)

    def _mismatch(self, item: _Level, case: Case, result: Comparison) -> Verification:
        notes = (f"{result.difference}", f"on {case}", f"seed {self._seed}")
        return self._verification(item, Outcome.MISMATCH, self._diagnostic("TM5001", notes=notes))

    def _diagnostic(self, code: str, notes: tuple[str, ...], help: str = "") -> Diagnostic:
        return diagnostic(code, self._fact.span, kernel=self._fact.id, notes=notes, help=help)

    def _verification(self, item: _Level, outcome: Outcome, *why: Diagnostic) -> Verification:
        return Verification(
            outcome,
            inputs=item.compared,
            seed=self._seed,
            max_abs_error=item.max_abs,
            max_rel_error=item.max_rel,
            tolerance=item.tolerance,
            seconds=time.perf_counter() - self._started,
            diagnostics=why,
            cases=tuple(self._seen.cases),
        )


def _variants(case: Case, level: Level) -> tuple[tuple[bool, str, int], ...]:
    """How to run a rewrite on ``case``: the end that is guarded, thread order and poison.

    Only ``simt`` has threads to order: a missing barrier may show in one order only.
    """
    here, there = case.end_flush, not case.end_flush
    if level is not Level.SIMT:
        return (here, "forward", 0), (there, "forward", 0)
    return (here, "forward", 0), (there, "reverse", 1), (here, "shuffle", 0)


def _changed(case: Case, answer: Reference, bounds: Bounds | None = None) -> set[str]:
    """Pointer leaves and globals with an element that the original changes to a value that a
    rewrite is held to: not one whose error bound is infinite.
    """
    before, globals_before = initial(case)
    out: set[str] = set()
    for name, data in {**before, **globals_before}.items():
        after = answer.memory[name] if name in answer.memory else answer.globals[name]
        differ = unequal(data, after)
        if bounds is not None and name in bounds:
            differ &= ~np.isposinf(bounds[name])
        if differ.any():
            out |= {name, *(n for n, m in case.memory.items() if m.alias == name)}
    return out


def _widen(
    case: Case, answer: Reference, emission: Emission
) -> tuple[Case, dict[str, Array], dict[str, int]] | None:
    """Grow buffers to the shapes that the emission declares, with elements that must not change.

    None where that would add more than ``WIDEST`` bytes.
    """
    room = WIDEST
    memory = dict(case.memory)
    expected: dict[str, Array] = dict(answer.memory)
    for argument in emission.arguments:
        shape = [e for e in argument.shape if e is not None]
        held = memory.get(argument.source)
        if not shape or len(shape) != len(argument.shape) or held is None or held.alias:
            continue
        try:
            names = launch_names(case.launch)
            count = math.prod(max(0, evaluate_int(e, names)) for e in shape)
        except UnevaluableError:
            continue
        missing = count - (held.data.size - held.origin)
        room -= max(0, missing) * held.data.itemsize
        if room < 0:
            return None
        if missing > 0:
            seed = np.random.default_rng(count)
            extra = seed.integers(0, 5, missing).astype(held.data.dtype)
            memory[argument.source] = replace(held, data=np.concatenate([held.data, extra]))
            expected[argument.source] = np.concatenate([expected[argument.source], extra])
    expected |= {f"global {n}": a for n, a in answer.globals.items()}
    origins = {n: m.origin for n, m in memory.items()}
    return replace(case, memory=memory), expected, origins


def _padded(bounds: Bounds, expected: dict[str, Array]) -> Bounds:
    out: Bounds = {}
    for name, bound in bounds.items():
        key = name if name in expected else f"global {name}"
        out[key] = np.zeros(expected[key].size)
        out[key][: bound.size] = bound.ravel()
    return out


def _dtype_of(bounds: Bounds, answer: Reference) -> np.dtype[np.generic]:
    """The coarsest type among the buffers that have bounds."""
    types = [(answer.memory | answer.globals)[n].dtype for n in bounds]
    return min(types, key=lambda t: t.itemsize)
