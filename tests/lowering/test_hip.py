"""Every emission of the samples that names HIP lowers for it.

For C that is part of verification, which the tests of the samples run.
"""

from __future__ import annotations

import pytest
from lowered_samples import lower_all

from hipify_tile.rewriter.model import Level, Target


@pytest.mark.parametrize("level", list(Level))
def test_hip(emitted, level):
    chosen = [e for e in emitted if e.level is level and Target.HIP in e.emission.targets]
    lowered, refused = lower_all(((e.id, e.emission) for e in chosen), "hip")
    assert lowered and not refused
    assert all("__global__" in text.source for text in lowered.values())


def test_emissions_name_their_targets(emitted):
    gpus = {Target.CUDA, Target.HIP}
    for e in emitted:
        if e.level is not Level.TILE:  # a product in float32 would be computed in tf32 on a GPU
            assert gpus <= set(e.emission.targets), e.id
        assert (Target.CPU in e.emission.targets) == (e.level is not Level.SIMT), e.id
    tiles = [e for e in emitted if e.level is Level.TILE and gpus <= set(e.emission.targets)]
    assert len(tiles) >= 5
