"""What the samples' kernels are emitted as: every level of one instance of each kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.project import discover
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.rewriter.pipeline import emit_levels

SAMPLES = Path(__file__).parents[2] / "samples" / "cuda"


@dataclass(frozen=True)
class Emitted:
    """A kernel instance at one level; ``id`` names both."""

    id: str
    level: Level
    emission: Emission


@pytest.fixture(scope="session")
def emitted() -> tuple[Emitted, ...]:
    found: dict[str, Emitted] = {}
    for unit in discover([SAMPLES]).units:
        for fact in analyze_unit(unit).kernels:
            if fact.kernel is None:
                continue
            for result in emit_levels(fact.kernel, root=unit.root):
                if result.emission is not None:
                    key = f"{fact.id.partition('<')[0]} {result.level}"
                    found.setdefault(key, Emitted(key, result.level, result.emission))
    levels = [e.level for e in found.values()]
    assert min(levels.count(Level.SIMT), levels.count(Level.LOOP)) >= 30
    assert levels.count(Level.TILE) >= 5
    return tuple(found.values())
