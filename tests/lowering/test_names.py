"""Names of the CUDA source that mean something else in the emitted module."""

from __future__ import annotations

import pytest
from raise_support import cuda_kernel

from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.lowering import lower

CLASHES = """
__global__ void kernel(int *out, int T, int grid_x, const int *None, int n) {
    extern __shared__ int lambda[];
    int block = blockIdx.x, shared_bytes = T, bx = grid_x, target = blockDim.x, block_x = 3;
    int range = threadIdx.x, tx = block * target + range;
    lambda[range] = shared_bytes;
    __syncthreads();
    if (tx < n) out[tx] = lambda[range] + bx * block_x + None[tx];
}
"""
NAMES = """
__global__ void tilelang(int *x, int *x_len, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x_len[i] + i;
}
"""


@pytest.mark.parametrize("source", [CLASHES, NAMES])
@pytest.mark.parametrize(("level", "target"), [(Level.LOOP, "c"), (Level.SIMT, "cuda")])
def test_clashing_names_lower(source, level, target):
    (result,) = emit_levels(cuda_kernel(source), levels=(level,))
    assert result.emission is not None, result.diagnostics
    lowered = lower(result.emission, target, {"block": (32, 1, 1), "shared_bytes": 128})
    known = {a.name for a in result.emission.arguments}
    known |= {name for a in result.emission.arguments for name in a.extents}
    assert {p.name for p in lowered.parameters} <= known
