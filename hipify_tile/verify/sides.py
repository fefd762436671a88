"""Both sides of the tests that a kernel makes of its scalar arguments.

``flag > 0`` → the values −1, 0 and 1 for ``flag``: the literal of each test that is the same for
all threads, and its neighbours. Steering a launch towards values that no launch had yet reaches
the branches that values drawn like sizes never take. Tests that read a buffer or an index are not
steered: the threads and contents of one case take both sides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import numpy as np

from hipify_tile.ir.simt import Kernel
from hipify_tile.verify.evaluate import UnevaluableError, Value, wrap
from hipify_tile.verify.roles import Roles

_MOST = 48
"""Values a scalar is steered to: enough for a ``switch``, few enough to get around."""
_LARGEST_SIZE = 1 << 16
"""Sizes beyond this cost more time to run than the side they reach is worth."""


class Sides:
    """Counts, for each tested scalar leaf, how often a launch was at each value worth trying.

    A value between two of them that are not neighbours counts for both: no test tells them apart.
    """

    def __init__(self, kernel: Kernel, roles: Roles) -> None:
        self._tried: dict[str, dict[Value, int]] = {}
        for p in kernel.params:
            if p.pointer:
                continue
            values: set[Value] = set()
            literals = roles.tested.get(p.name, frozenset())
            steps = (0, 1) if p.dtype.name == "bool" else (-1, 0, 1)
            for literal in (0,) if p.dtype.name == "bool" else literals:
                for step in steps:
                    try:
                        value = wrap(literal + step, p.dtype)
                    except UnevaluableError:
                        continue
                    if p.name not in roles.sizes or abs(value) <= _LARGEST_SIZE:
                        values.add(value)
            if values:
                self._tried[p.name] = dict.fromkeys(sorted(values)[:_MOST], 0)

    @property
    def untried(self) -> bool:
        """Whether some value is on a side that no launch was on."""
        return any(0 in counts.values() for counts in self._tried.values())

    def __bool__(self) -> bool:
        return bool(self._tried)

    def count(self, scalars: Mapping[str, Value]) -> None:
        """Note the launch with ``scalars``."""
        for name, counts in self._tried.items():
            value = scalars[name]
            if value != value:
                continue
            if value in counts:
                counts[value] += 1
                continue
            values = list(counts)
            at = bisect_left(values, value)
            for near in values[max(0, at - 1) : at + 1]:
                counts[near] += 1

    def steered(self, scalars: Mapping[str, Value], rng: np.random.Generator) -> dict[str, Value]:
        """Return ``scalars`` with the least tried value, and perhaps least tried ones of others."""
        out = dict(scalars)
        if not self._tried:
            return out
        names = sorted(self._tried, key=lambda n: (min(self._tried[n].values()), rng.random()))
        for place, name in enumerate(names):
            if place == 0 or rng.random() < 0.5:
                counts = self._tried[name]
                out[name] = min(counts, key=lambda v: (counts[v], rng.random()))
        return out
