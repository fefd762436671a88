"""Search for cases: launches with contents that keep the original within exactly fitting buffers.

``launch → contents in a wide window → bisection → the same contents cut to the touched range``. The
last window is larger than anything a sensible case touches; the cut leaves no slack on either
side, so an access of the rewritten kernel that the original does not make hits a guard page.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.types import ScalarType
from hipify_tile.verify.cases import Array, Case, Launch, Memory, numpy_dtype
from hipify_tile.verify.contents import draw, draw_indices
from hipify_tile.verify.evaluate import UnevaluableError, wrap
from hipify_tile.verify.roles import Roles
from hipify_tile.verify.shapes import LaunchSource

WINDOWS = (1 << 15, 1 << 20)
"""Bytes drawn above the pointer, and a sixteenth below it: the second where the first is too small,
since every run of the original costs time by the size of its memory."""

_POOL = 40009
_PROFILE_CYCLE = ("mixed", "special", "exact", "binary", "positive", "special", "mixed", "exact")


@dataclass(frozen=True, slots=True)
class Ran:
    """One execution: ``status`` is ``ok`` or names what stopped it, ``detail`` says more.

    ``out_of_bounds`` comes with the pointer leaf and the element, counted from its pointer, where
    that is known (``leaf`` is empty else), and ``access`` says in words who did what.
    """

    status: str
    detail: str = ""
    memory: dict[str, Array] = field(default_factory=dict)
    globals: dict[str, Array] = field(default_factory=dict)
    leaf: str = ""
    element: int = 0
    access: str = ""
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the launch ran to its end."""
        return self.status == "ok"

    @property
    def reason(self) -> str:
        """Status and detail in one text."""
        return f"{self.status}: {self.detail}" if self.detail else self.status


class Original(Protocol):
    """The reference build of one kernel."""

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        """Execute ``case`` with guard pages around every buffer.

        ``order`` is ``forward``, ``reverse`` or ``shuffle`` with an optional number; ``poison`` (0
        or 1) chooses what uninitialised memory holds.
        """
        ...

    def race(self, case: Case) -> str:
        """What the threads that run ``case`` race for, or why that is unknown; empty if nothing."""
        ...


class CaseSearch:
    """A seeded stream of cases on which the original ends normally and in bounds."""

    def __init__(
        self,
        kernel: Kernel,
        roles: Roles,
        facts: Sequence[LaunchFact],
        original: Original,
        seed: int,
    ) -> None:
        self._kernel = kernel
        self._roles = roles
        self._original = original
        self._rng = np.random.default_rng(seed)
        self.launches = LaunchSource(kernel, roles, facts, self._rng)
        self._pointers = tuple(p for p in kernel.params if p.pointer)
        self._globals = tuple({b.symbol: b for b in kernel.buffers if b.symbol}.values())
        self._written_globals = {b.symbol for b in kernel.buffers if b.symbol and b.written}
        self._pools: dict[tuple[str, str], Array] = {}
        self.failures: Counter[str] = Counter()
        self.examples: dict[str, tuple[str, str]] = {}

    def __iter__(self) -> Iterator[Case | None]:
        """Yield a case, or None for an attempt that failed (counted in ``failures``)."""
        for turn, launch in enumerate(self.launches, 1):
            profile = _PROFILE_CYCLE[(turn - 1) % len(_PROFILE_CYCLE)]
            yield self.case(launch, profile, end_flush=turn % 4 != 3)

    def case(self, launch: Launch, profile: str, *, end_flush: bool = True) -> Case | None:
        """Draw contents for ``launch`` and cut them to fit; None if the original does not run."""
        for window in WINDOWS[:-1]:
            drawn = self._draw(launch, profile, window)
            if self._original.run(drawn).status != "out_of_bounds":
                return self.fit(drawn, end_flush=end_flush)
        return self.fit(self._draw(launch, profile, WINDOWS[-1]), end_flush=end_flush)

    def fit(self, window: Case, *, end_flush: bool) -> Case | None:
        """Cut the buffers of ``window`` to what the original touches; None if it does not run."""
        ran = self._original.run(window)
        if not ran.ok:
            self.failures[ran.reason] += 1
            if ran.access:
                held = window.memory[ran.leaf].data.size - window.memory[ran.leaf].origin
                example = f"{ran.access}, which was given {held} elements; {window.launch}"
                self.examples.setdefault(ran.reason, (ran.leaf, example))
            return None
        kept = {n: a for n, a in ran.globals.items() if n not in self._written_globals}
        window = replace(window, globals={**window.globals, **kept})  # const ones are not drawn
        case = window
        owners = [n for n, m in window.memory.items() if not m.alias]
        for name in owners:
            case = self._tightened(case, name)
        flushed = replace(case, end_flush=end_flush)
        whole = {p.name: p.pointee_bytes for p in self._pointers}
        for granule in (1, 16):  # vector accesses need their alignment at the guard's end
            # A compiler may drop an unused part of a record; the source still accesses all of it.
            fitted = _rounded(flushed, window, {n: max(granule, b) for n, b in whole.items()})
            ran = self._original.run(fitted)
            if ran.ok:
                return fitted
        self.failures[ran.reason] += 1
        return None

    def _tightened(self, case: Case, name: str) -> Case:
        """Bisect both ends of the leaf ``name`` (the others keep their size)."""
        memory = case.memory[name]
        low, high = -memory.origin, memory.data.size - memory.origin

        def runs(start: int, stop: int) -> tuple[Case, Ran]:
            data = memory.data[memory.origin + start : memory.origin + stop]
            cut = replace(
                case,
                memory={**case.memory, name: Memory(data, -start)},
                end_flush=start == low,
            )
            return cut, self._original.run(cut)

        best = case
        least = 0
        for guess in _guesses(case.launch, name, high):
            if least <= guess < high:
                cut, ran = runs(low, guess)
                if ran.ok:
                    best, high = cut, guess
                elif ran.leaf == name and ran.element >= guess:
                    least = max(least, ran.element + 1)
                else:
                    least = max(least, guess + 1)
        while least < high:
            middle = (least + high) // 2
            cut, ran = runs(low, middle)
            if ran.ok:
                best, high = cut, middle
            elif ran.leaf == name and ran.element >= middle:
                least = ran.element + 1
            else:
                least = middle + 1
        most = 0
        if low < 0:
            cut, ran = runs(0, high)
            if ran.ok:
                return cut
        while low < most:
            middle = -(-(low + most) // 2)
            cut, ran = runs(middle, high)
            if ran.ok:
                best, low = cut, middle
            else:
                most = middle - 1
        return best

    def allocated(self, launch: Launch) -> tuple[Case, frozenset[str]]:
        """Draw contents for ``launch`` in buffers of the sizes that the program allocates.

        The names are those of the leaves that have such a size and are not indexed with loaded
        values, so that the contents have no part in where they are accessed.
        """
        indexed = self._roles.index_of
        loaded = {name for targets in indexed.values() for name in targets}
        drawn = self._draw(launch, "mixed", WINDOWS[-1])
        memory = dict(drawn.memory)
        stated: set[str] = set()
        for name, held in drawn.memory.items():
            extent = launch.extents.get(name)
            if held.alias or not extent:
                continue
            above = held.data[held.origin :]
            if name not in loaded and ("" not in loaded or name in indexed):
                memory[name] = Memory(np.resize(above, extent))
                stated.add(name)
            elif extent > above.size:
                memory[name] = Memory(np.resize(above, extent))
        return replace(drawn, memory=memory), frozenset(stated)

    def aliased(self, case: Case) -> Iterator[Case]:
        """Yield variants of ``case`` where a written pointer overlaps another one.

        Only pairs that may: same type, not both promised distinct, and not known to come
        from different allocations, or from known places of the same one, at the launch.
        """
        restrict = {b.storage or b.name for b in self._kernel.buffers if b.restrict}
        for p in self._pointers:
            for q in self._pointers:
                if p.name == q.name or p.dtype != q.dtype or p.name not in self._roles.written:
                    continue
                if q.name in self._roles.written and q.name < p.name:
                    continue
                if p.name in restrict or q.name in restrict:
                    continue
                if _settled(case.launch, p.name, q.name):
                    continue
                if case.memory[p.name].alias or case.memory[q.name].alias:
                    continue
                for elements in (0, 1, -1):
                    yield self._alias(case, p, q, elements)

    def _alias(self, case: Case, p: Param, q: Param, elements: int) -> Case:
        """``p`` becomes ``q + elements``, in one range that holds both."""
        a, b = case.memory[p.name], case.memory[q.name]
        low = min(-b.origin, elements - a.origin)
        high = max(b.data.size - b.origin, elements + a.data.size - a.origin)
        seed = np.random.default_rng(high - low)
        data = draw(p.dtype, high - low, "mixed", seed).astype(b.data.dtype)
        data[-low - b.origin : -low - b.origin + b.data.size] = b.data
        memory = dict(case.memory)
        memory[q.name] = Memory(data, -low)
        empty = np.empty(0, b.data.dtype)
        memory[p.name] = Memory(empty, 0, q.name, elements * p.dtype.bytes)
        label = f"{case.profile}, {p.name} is {q.name}" + (f"{elements:+}" if elements else "")
        return replace(case, memory=memory, profile=label)

    def _draw(self, launch: Launch, profile: str, window: int) -> Case:
        memory: dict[str, Memory] = {}
        owners = _owners(launch, self._pointers)
        for p in self._pointers:
            owner = owners[p.name]
            if owner != p.name:
                offset = launch.offsets[p.name] - launch.offsets[owner]
                memory[p.name] = Memory(np.empty(0, numpy_dtype(p.dtype)), 0, owner, offset)
                continue
            above = window // p.dtype.bytes
            below = above // 16
            data = self._contents(p.name, p.dtype, above + below, below, launch, profile)
            memory[p.name] = Memory(self._mingled(data, p.dtype, launch), below)
        values: dict[str, Array] = {}
        for b in self._globals:
            count = int(np.prod(b.shape)) if b.shape else 1
            values[b.symbol] = self._contents(
                b.storage or b.name, b.dtype, count, 0, launch, profile
            )
        return Case(launch, profile, memory, values)

    def _contents(
        self,
        storage: str,
        dtype: ScalarType,
        count: int,
        origin: int,
        launch: Launch,
        profile: str,
    ) -> Array:
        targets = self._roles.index_of.get(storage)
        if targets is None or not (dtype.is_integer):
            return self._pooled(dtype, count, profile)
        if profile == "special" and self._rng.random() < 0.5:
            return self._pooled(dtype, count, profile)
        limit = self._index_limit(targets, launch)
        if "" in targets and self._rng.random() < 0.7:
            return _row_starts(dtype, count, origin, self._rng)
        monotone = bool(self._rng.random() < 0.2)
        return draw_indices(dtype, count, limit, monotone, self._rng)

    def _pooled(self, dtype: ScalarType, count: int, profile: str) -> Array:
        """Draw from a pool made once, started anywhere: windows are far larger than their use."""
        key = (dtype.name, profile)
        if key not in self._pools:
            self._pools[key] = draw(dtype, _POOL, profile, self._rng)
        rolled = np.roll(self._pools[key], int(self._rng.integers(_POOL)))
        return np.resize(rolled, count)

    def _mingled(self, data: Array, dtype: ScalarType, launch: Launch) -> Array:
        """Every few cases, let some elements be a scalar argument or next to it: for comparisons of
        loaded values with arguments.
        """
        values: list[int | float | bool] = []
        for p in self._kernel.params:
            if not p.pointer and p.dtype.is_integer == dtype.is_integer:
                for step in (0, 0, -1, 1):
                    with contextlib.suppress(UnevaluableError):
                        values.append(wrap(launch.scalars[p.name] + step, dtype))
        if not values or dtype.name == "bool" or self._rng.random() < 0.6:
            return data
        chosen = self._rng.random(data.size) < 0.2
        out = data.copy()
        out[chosen] = self._rng.choice(np.array(values, data.dtype), int(chosen.sum()))
        return out

    def _index_limit(self, targets: frozenset[str], launch: Launch) -> int:
        """An exclusive bound for index values: what the indexed buffers are known to hold."""
        static = [
            int(np.prod(b.shape))
            for b in self._kernel.buffers
            if _storage(b) in targets and b.shape and b.scope is not Scope.PARAM
        ]
        known = [e for t in targets if (e := launch.extents.get(t)) is not None and e > 0]
        if static or known:
            return min([*static, *known])
        sizes = [int(v) for n, v in launch.scalars.items() if n in self._roles.sizes and int(v) > 0]
        if sizes and self._rng.random() < 0.8:
            return min(sizes)
        return int(self._rng.choice([4, 16, 64, 256]))


def _owners(launch: Launch, pointers: Sequence[Param]) -> dict[str, str]:
    """The leaf whose memory each pointer leaf points into: of a shared root the lowest one."""
    lowest: dict[str, str] = {}
    for p in pointers:
        root = launch.roots.get(p.name)
        if root and p.name in launch.offsets:
            other = lowest.setdefault(root, p.name)
            if launch.offsets[p.name] < launch.offsets[other]:
                lowest[root] = p.name
    return {
        p.name: lowest[launch.roots[p.name]] if p.name in launch.offsets else p.name
        for p in pointers
    }


def _settled(launch: Launch, p: str, q: str) -> bool:
    """Whether the launch says how the memory of two pointer leaves is related."""
    if p not in launch.roots or q not in launch.roots:
        return False
    if launch.roots[p] == launch.roots[q]:
        return p in launch.offsets and q in launch.offsets
    return p in launch.owned and q in launch.owned


def _rounded(case: Case, window: Case, granules: Mapping[str, int]) -> Case:
    """Grow every buffer to a multiple of its granule in bytes above and below its pointer."""
    memory: dict[str, Memory] = {}
    for name, cut in case.memory.items():
        whole = window.memory[name]
        if cut.alias:
            memory[name] = cut
            continue
        step = max(1, granules[name] // cut.data.itemsize)
        high = -(-(cut.data.size - cut.origin) // step) * step
        low = -(-cut.origin // step) * step
        high = min(high, whole.data.size - whole.origin)
        low = min(low, whole.origin)
        memory[name] = Memory(whole.data[whole.origin - low : whole.origin + high].copy(), low)
    return replace(case, memory=memory)


def _guesses(launch: Launch, name: str, high: int) -> list[int]:
    """Likely element counts of a buffer, largest first: its allocation, the launch's sizes."""
    sizes = {int(v) for v in launch.scalars.values() if isinstance(v, int) and 0 < v < high}
    sizes.add(launch.threads)
    products = {a * b for a in sizes for b in sizes if a * b < high}
    known = launch.extents.get(name)
    guesses = sizes | products | ({known} if known is not None else set()) | {1 << 14, 1 << 10, 0}
    chosen = sorted(g for g in guesses if g < high)
    thinned = chosen[:: max(1, len(chosen) // 8)]
    return sorted({*thinned, *(g - 1 for g in sizes | ({known} if known else set()))}, reverse=True)


def _storage(buffer: Buffer) -> str:
    return buffer.storage or buffer.name


def _row_starts(dtype: ScalarType, count: int, origin: int, rng: np.random.Generator) -> Array:
    """Row starts of a sparse matrix: a running sum of small row lengths that is 0 at the
    pointer.
    """
    lengths = rng.integers(0, 5, count)
    starts = np.concatenate([[0], np.cumsum(lengths)])[: max(0, count - origin)]
    below = np.zeros(origin, np.int64)
    top = (1 << (dtype.bits - 1)) - 1
    values: Array = np.minimum(np.concatenate([below, starts]), top)[:count].astype(dtype.name)
    return values
