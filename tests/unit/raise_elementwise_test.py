"""Elementwise kernels from CUDA text: raised, executed on the CPU, equal bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from raise_support import assert_same, assumptions_hold, cuda_kernel, execute

from hipify_tile.ir.verify import violations
from hipify_tile.rewriter.raise_.raising import raise_kernel, raise_to_tile

SAXPY = """
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
SCALE_2D = """
__global__ void scale(const double *in, double *out, unsigned w, unsigned h, double s) {
    unsigned x = threadIdx.x + blockDim.x * blockIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    out[y * w + x] = s * in[y * w + x];
}
"""
GRID_STRIDE = """
__global__ void clamp(const float *in, float *out, float *low, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float v = in[i];
        if (v < 0.0f) { v = -v; low[i] = v; }
        out[i] = v > 1.5f ? 1.5f : sqrtf(v);
    }
}
"""
STENCIL = """
__global__ void smooth(const float *in, float *out, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    if (x == 0 || x == w - 1) { out[y * w + x] = in[y * w + x]; return; }
    out[y * w + x] = 0.5f * (in[y * w + (x - 1)] + in[y * w + x + 1]) - 0.1f * in[y * w + x];
}
"""
TRANSPOSE = """
__global__ void transpose(const int *in, int *out, int w, int h) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
"""
REVERSED = """
__global__ void backwards(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = in[i] - in[i];
}
"""
STRIDED = """
__global__ void strided(const float *in, float *out, int n, int stride) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i * stride] = in[i];
}
"""
VOLUME = """
__global__ void volume(const float *in, float *out, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < nx && j < ny && k < nz) out[(k * ny + j) * nx + i] = in[(k * ny + j) * nx + i] * 3.0f;
}
"""
ONE = (1, 1, 1)


def _values(count: int, dtype: type = np.float32) -> np.ndarray:
    rng = np.random.default_rng(count)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-100, 100, count).astype(dtype)
    data = rng.normal(size=count).astype(dtype)
    data[:4] = [np.nan, np.inf, -0.0, 0.0]
    return data


def _raised(source: str):
    kernel = cuda_kernel(source)
    nest = raise_kernel(kernel)
    assert violations(nest) == []
    result = raise_to_tile(kernel)
    assert result.emission is not None, result.diagnostics
    return kernel, result.emission


@pytest.mark.parametrize(
    ("n", "grid", "block"),
    [(1000, 4, 256), (37, 4, 32), (2048, 3, 64), (0, 1, 32), (-3, 1, 32), (1025, 5, 256)],
)
def test_saxpy(n, grid, block):
    kernel, emission = _raised(SAXPY)
    memory = {"x": _values(max(n, 8)), "y": _values(max(n, 8))[::-1].copy()}
    assert_same(
        kernel, emission, (grid, 1, 1), (block, 1, 1), memory, {"n": n, "a": np.float32(1.7)}
    )


def test_launch_dimensions_that_are_not_used_must_be_one():
    _, emission = _raised(SAXPY)
    scalars = {"n": 5, "a": 1.0}
    assert assumptions_hold(emission, ONE, (32, 1, 1), scalars)
    assert not assumptions_hold(emission, ONE, (32, 2, 1), scalars)
    assert not assumptions_hold(emission, (1, 1, 2), (32, 1, 1), scalars)
    assert not assumptions_hold(emission, (2**22, 1, 1), (1024, 1, 1), scalars)


@pytest.mark.parametrize(
    ("w", "h", "grid", "block"),
    [(33, 7, (2, 2, 1), (32, 4, 1)), (300, 5, (3, 1, 1), (64, 3, 1)), (8, 8, ONE, ONE)],
)
@pytest.mark.parametrize("source", [SCALE_2D, STENCIL])
def test_two_dimensions(source, w, h, grid, block):
    kernel, emission = _raised(source)
    dtype = np.float64 if source is SCALE_2D else np.float32
    memory = {p.name: _values(w * h, dtype) + i for i, p in enumerate(kernel.params) if p.pointer}
    scalars = {"w": w, "h": h, "s": 2.5}
    assert_same(
        kernel,
        emission,
        grid,
        block,
        memory,
        {p.name: scalars[p.name] for p in kernel.params if not p.pointer},
    )


@pytest.mark.parametrize(("n", "grid", "block"), [(1000, 2, 64), (5, 3, 32), (0, 1, 1)])
def test_grid_stride_visits_everything_whatever_the_launch(n, grid, block):
    kernel, emission = _raised(GRID_STRIDE)
    names = [p.name for p in kernel.params if p.pointer]
    memory = {name: _values(max(n, 8)) for name in names}
    assert_same(kernel, emission, (grid, 1, 1), (block, 1, 1), memory, {"n": n})


@pytest.mark.parametrize(("w", "h"), [(16, 8), (13, 7), (30, 2)])
def test_transpose_with_the_block_size_in_the_text(w, h):
    kernel, emission = _raised(TRANSPOSE)
    names = [p.name for p in kernel.params if p.pointer]
    memory = {name: _values(w * h, np.int32) for name in names}
    assert_same(kernel, emission, (2, 2, 1), (8, 4, 1), memory, {"w": w, "h": h})
    assert not assumptions_hold(emission, (2, 2, 1), (16, 4, 1), {"w": w, "h": h})


def test_reversed_index_and_a_difference_that_is_not_folded():
    kernel, emission = _raised(REVERSED)
    names = [p.name for p in kernel.params if p.pointer]
    memory = {name: _values(100) for name in names}
    assert_same(kernel, emission, (4, 1, 1), (32, 1, 1), memory, {"n": 100})


def test_symbolic_stride_must_be_positive():
    kernel, emission = _raised(STRIDED)
    names = [p.name for p in kernel.params if p.pointer]
    memory = {name: _values(300) for name in names}
    assert_same(kernel, emission, (4, 1, 1), (32, 1, 1), memory, {"n": 100, "stride": 3})
    assert not assumptions_hold(emission, ONE, (32, 1, 1), {"n": 100, "stride": 0})


def test_three_dimensions_partly_covered():
    kernel, emission = _raised(VOLUME)
    names = [p.name for p in kernel.params if p.pointer]
    memory = {name: _values(6 * 5 * 4) for name in names}
    scalars = {"nx": 6, "ny": 5, "nz": 4}
    assert_same(kernel, emission, (1, 2, 3), (4, 2, 1), memory, scalars)


def test_in_place_through_one_pointer():
    _, emission = _raised(SAXPY)
    data = _values(100)
    both = data.copy()
    execute(emission, (4, 1, 1), (32, 1, 1), {"x": both, "y": both}, {"n": 100, "a": 3.0})
    np.testing.assert_array_equal(both, np.float32(3.0) * data + data)
