"""One emission of a kernel on trial: its rewrite runs on each case and is held to the answers.

Says what the comparisons show of this level; what the cases leave unproven of the original is
``judge.py``'s.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
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
from hipify_tile.rewriter.model import Emission
from hipify_tile.verify.assumptions import broken_by, geometry, holds, launch_names
from hipify_tile.verify.cases import Array, Case, save_case, with_flush
from hipify_tile.verify.compare import Comparison, compare
from hipify_tile.verify.evaluate import UnevaluableError, evaluate_int
from hipify_tile.verify.expectation import WIDEST, changed, dtype_of, padded, variants, widen
from hipify_tile.verify.inputs import Original, Ran
from hipify_tile.verify.model import Outcome, Verification
from hipify_tile.verify.reference import Bounds, Reference, gamma, rounding_bounds

UNMET = "an assumed launch condition does not hold"


class Rewritten(Protocol):
    """The executable form of one emission."""

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        """Execute ``case`` in guarded memory; status ``skipped`` where it is not built for it.

        ``order`` and ``poison`` are those of the original; without threads they mean nothing.
        """
        ...


@dataclass(frozen=True, slots=True)
class Subject:
    """The kernel whose levels are tried; ``started`` is when, ``save_failures`` a folder."""

    fact: KernelFact
    kernel: Kernel
    launches: tuple[LaunchFact, ...]
    original: Original
    seed: int
    save_failures: Path | None
    started: float

    @property
    def written(self) -> set[str]:
        """Pointer leaves and globals that the kernel stores to."""
        out: set[str] = set()
        for b in self.kernel.buffers:
            if b.written and b.scope is Scope.PARAM:
                out.add(b.storage or b.name)
            elif b.written and b.scope is Scope.GLOBAL:
                out.add(b.symbol)
        return out

    def diagnostic(self, code: str, notes: tuple[str, ...], help: str = "") -> Diagnostic:
        """A finding about the kernel."""
        return diagnostic(code, self.fact.span, kernel=self.fact.id, notes=notes, help=help)


@dataclass(slots=True)
class Trial:
    """What the cases so far show of one emission.

    ``compared`` counts the cases that are evidence and ``shown`` names what they change;
    ``skipped`` counts the others by reason. ``seconds`` is CPU time spent on the rewrite.
    ``failure`` ends the trial.
    """

    subject: Subject
    emission: Emission
    rewritten: Rewritten
    compared: int = 0
    shown: set[str] = field(default_factory=set)
    skipped: Counter[str] = field(default_factory=Counter)
    max_abs: float = 0.0
    max_rel: float = 0.0
    tolerance: float = 0.0
    failure: Verification | None = None
    seconds: float = 0.0

    def hold(self, case: Case, answer: Reference) -> None:
        """Run the rewrite on ``case`` and compare with ``answer``; sets ``failure``."""
        emission = self.emission
        for assumption in emission.assumes:
            if holds(assumption, launch_names(case.launch)):
                continue
            if case.launch.real and holds(assumption, geometry(case.launch)) is False:
                self.failure = self._unfit(assumption, str(case.launch))
            self.skipped[f"{UNMET}: {print_expr(assumption)}"] += 1
            return
        bounds: Bounds = dict(answer.bounds)
        if emission.tolerance:
            derived = self._tolerated(emission, case, answer)
            if derived is None:
                self.skipped["no error bound could be derived"] += 1
                return
            for name, bound in derived.items():
                bounds[name] = np.maximum(bounds[name], bound) if name in bounds else bound
        shown = changed(case, answer, bounds)
        widened = widen(case, answer, emission)
        if widened is None:
            self.skipped[f"the declared shapes take more than {WIDEST >> 20} MiB"] += 1
            return
        wide, expected, origins = widened
        for end_flush, order, poison in variants(case, emission.level):
            cpu = time.process_time()
            ran = self.rewritten.run(with_flush(wide, end_flush), order, poison)
            self.seconds += time.process_time() - cpu
            if ran.status == "skipped":
                self.skipped[ran.detail] += 1
                return
            if not ran.ok:
                self.failure = self._stopped(case, ran)
                self._keep(wide, expected, {})
                return
            got = {**ran.memory, **{f"global {n}": a for n, a in ran.globals.items()}}
            result = compare(expected, got, origins, padded(bounds, expected))
            self.max_abs = max(self.max_abs, result.max_abs_error)
            self.max_rel = max(self.max_rel, result.max_rel_error)
            if result.difference is not None:
                self.failure = self._mismatch(case, result)
                self._keep(wide, expected, got)
                return
        if bounds:
            terms = self._terms(emission, case) if emission.tolerance else case.launch.threads
            self.tolerance = max(self.tolerance, gamma(terms + 2, dtype_of(bounds, answer)))
        if not shown and any(np.isposinf(b).any() for b in bounds.values()):
            self.skipped["the error bounds of all that changes are infinite"] += 1
            return
        self.shown |= shown
        self.compared += 1

    def _keep(self, case: Case, expected: dict[str, Array], got: dict[str, Array]) -> None:
        """Save the case that the rewrite fails, if asked to."""
        if self.subject.save_failures is None or self.failure is None:
            return
        if self.failure.outcome is Outcome.MISMATCH:
            stem = re.sub(r"[^\w.-]+", "_", f"{self.subject.fact.id}-{self.emission.level.value}")
            save_case(case, expected, got, self.subject.save_failures / f"{stem[-200:]}.npz")

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
            if n in self.subject.written
            or any(b.symbol == n and b.written for b in self.subject.kernel.buffers)
        }
        terms = self._terms(emission, case)
        return rounding_bounds(self.subject.original, case, answer, frozenset(written), terms)

    def verdict(
        self, gap: Diagnostic | None, cases: Sequence[str], least: int, *, ended: bool
    ) -> Verification:
        """The verdict after ``cases``: ``gap`` is what they leave unproven of the original,
        ``least`` how many have to be compared, ``ended`` says that time ran out.
        """
        return replace(self.failure or self._found(gap, least, ended), cases=tuple(cases))

    def _found(self, gap: Diagnostic | None, least: int, ended: bool) -> Verification:
        if gap is not None:
            return self._verification(Outcome.UNVERIFIED, gap)
        if self.compared < least:
            notes = [f"only {self.compared} cases were compared"]
            notes += [f"{n} skipped: {why}" for why, n in self.skipped.most_common(3)]
            late = ended and self.skipped.total() < least
            why = self.subject.diagnostic("TM5005" if late else "TM5007", notes=tuple(notes))
            return self._verification(Outcome.UNVERIFIED, why)
        if unshown := sorted(self.subject.written - self.shown):
            note = f"no case that could be compared changes {', '.join(unshown)}"
            notes = [note, *(f"{n} skipped: {why}" for why, n in self.skipped.most_common(3))]
            lacking = self.subject.diagnostic("TM5007", notes=tuple(notes))
            return self._verification(Outcome.UNVERIFIED, lacking)
        return self._verification(Outcome.VERIFIED)

    def _stopped(self, case: Case, ran: Ran) -> Verification:
        what = f"{ran.status}: {ran.detail}".rstrip(": ")
        notes = (f"the rewritten kernel ended with {what}", f"on {case}")
        if ran.diagnostics:
            return self._verification(Outcome.UNVERIFIED, *ran.diagnostics)
        if ran.status == "timeout":
            return self._verification(
                Outcome.UNVERIFIED, self.subject.diagnostic("TM5005", notes=notes)
            )
        return self._verification(Outcome.MISMATCH, self.subject.diagnostic("TM5001", notes=notes))

    def misfit(self) -> Verification | None:
        """Return a verdict if the values of a launch site break a condition of the emission."""
        for assumption in self.emission.assumes:
            fact = broken_by(assumption, self.subject.kernel, self.subject.launches)
            if fact is not None:
                return self._unfit(assumption, f"{Path(fact.span.file).name}:{fact.span.line}")
        return None

    def _unfit(self, assumption: Expr, launch: str) -> Verification:
        notes = (
            f"level {self.emission.level.value} is exact where {print_expr(assumption)}",
            f"a launch of the program is not so: {launch}",
        )
        why = self.subject.diagnostic("TM5007", notes=notes)
        return self._verification(Outcome.UNVERIFIED, why)

    def _mismatch(self, case: Case, result: Comparison) -> Verification:
        notes = (f"{result.difference}", f"on {case}", f"seed {self.subject.seed}")
        return self._verification(Outcome.MISMATCH, self.subject.diagnostic("TM5001", notes=notes))

    def _verification(self, outcome: Outcome, *why: Diagnostic) -> Verification:
        return Verification(
            outcome,
            inputs=self.compared,
            seed=self.subject.seed,
            max_abs_error=self.max_abs,
            max_rel_error=self.max_rel,
            tolerance=self.tolerance,
            seconds=time.perf_counter() - self.subject.started,
            diagnostics=why,
        )
