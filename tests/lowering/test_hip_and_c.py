"""Every emission of the samples lowers for HIP, and the loop level for C as well."""

from __future__ import annotations

import pytest
from lowered_samples import lower_all

from hipify_tile.rewriter.model import Level, Target


@pytest.mark.parametrize("level", list(Level))
def test_hip(emitted, level):
    chosen = [(e.id, e.emission) for e in emitted if e.level is level]
    lowered, refused = lower_all(chosen, "hip")
    assert lowered and not refused
    assert all("__global__" in text.source for text in lowered.values())


def test_c(emitted):
    chosen = [(e.id, e.emission) for e in emitted if e.level is Level.LOOP]
    lowered, refused = lower_all(chosen, "c")
    assert lowered and not refused
    for text in lowered.values():
        assert "__global__" not in text.source
        assert not text.thread_extent, "a program for a CPU has no thread axes"


def test_emissions_name_the_targets_that_were_tried(emitted):
    for e in emitted:
        assert {Target.CUDA, Target.HIP} <= set(e.emission.targets), e.id
        assert (Target.CPU in e.emission.targets) == (e.level is not Level.SIMT), e.id
