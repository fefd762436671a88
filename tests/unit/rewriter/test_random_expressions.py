"""Differential test: random expressions, emitted C against C++ printed from the IR, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from random_expressions import random_inputs, random_kernel

from hipify_tile.ir.verify import violations

_SIZE = 300
_SCALARS = (
    {"fs": float("nan"), "us": 0, "is_": -3, "ds": 1.5},
    {"fs": 1.5, "us": 0xFFFFFFFE, "is_": 7, "ds": float("inf")},
)


@pytest.mark.parametrize("seed", (1, 2))
def test_random_expressions(seed, execution):
    kernel = random_kernel(seed, 16)
    assert not violations(kernel)
    outputs = {b.name: b.dtype for b in kernel.buffers if b.written}
    for scalars in _SCALARS:
        arrays = random_inputs(seed, _SIZE)
        arrays |= {n: np.zeros(_SIZE, t.name) for n, t in outputs.items()}
        execution.check(kernel, (5, 1, 1), (64, 1, 1), {"n": _SIZE, **scalars, **arrays})
