"""Which migrated kernels break a program: delta debugging over the kernels it launches.

A configuration is a set of kernels that run migrated; all others run kept. With all kept the
program has to pass, with all migrated it has to fail. ``ddmin`` then finds a set that fails
and from which no kernel can be left out (so kernels that break a program only together are found
too). Whether a run passes is the caller's to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")


def ddmin(items: Sequence[Item], fails: Callable[[tuple[Item, ...]], bool]) -> tuple[Item, ...]:
    """Return a part of ``items`` that fails and of which no single item can be taken away.

    ``fails(items)`` has to be true and ``fails(())`` false; neither is asked again. Each set is
    asked about once.
    """
    known: dict[frozenset[int], bool] = {frozenset(): False, frozenset(range(len(items))): True}

    def failing(chosen: Sequence[int]) -> bool:
        key = frozenset(chosen)
        if key not in known:
            known[key] = fails(tuple(items[i] for i in sorted(key)))
        return known[key]

    current = list(range(len(items)))
    parts = 2
    while len(current) > 1:
        chunks = _split(current, parts)
        smaller = next((c for c in chunks if failing(c)), None)
        if smaller is not None:
            current, parts = smaller, 2
            continue
        rests = ([i for i in current if i not in chunk] for chunk in chunks)
        rest = next((r for r in rests if failing(r)), None) if parts > 2 else None
        if rest is not None:
            current, parts = rest, max(parts - 1, 2)
        elif parts >= len(current):
            break
        else:
            parts = min(2 * parts, len(current))
    return tuple(items[i] for i in current)


def _split(items: Sequence[int], parts: int) -> list[list[int]]:
    """``parts`` runs of nearly equal length, none empty."""
    edges = [len(items) * n // parts for n in range(parts + 1)]
    return [list(items[a:b]) for a, b in pairwise(edges)]


def all_culprits(
    items: Sequence[Item], fails: Callable[[tuple[Item, ...]], bool]
) -> tuple[tuple[Item, ...], ...]:
    """Return disjoint minimal failing sets until what is left passes.

    ``fails(items)`` has to be true and ``fails(())`` false.
    """
    found: list[tuple[Item, ...]] = []
    rest = tuple(items)
    while True:
        culprits = ddmin(rest, fails)
        found.append(culprits)
        rest = tuple(i for i in rest if i not in culprits)
        if not rest or not fails(rest):
            return tuple(found)
