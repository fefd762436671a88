"""The naive matrix product and its near-misses: raised right, or not raised."""

from __future__ import annotations

import numpy as np
import pytest
from raise_support import assert_same, assumptions_hold, cuda_kernel

from hipify_tile.ir.stmt import Contraction
from hipify_tile.ir.verify import violations
from hipify_tile.rewriter.model import Target
from hipify_tile.rewriter.raise_.raising import raise_kernel, raise_to_tile

CLASSIC = """
__global__ void matmul(const T *A, const T *B, T *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
    if (row < M && col < N) {
        for (int k = 0; k < K; ++k) { sum += A[row * K + k] * B[k * N + col]; }
        C[row * N + col] = sum;
    }
}
"""
SQUARE_EARLY_RETURN = """
__global__ void matmul(const float *a, const float *b, float *c, float alpha, float beta, int n) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= n || y >= n) return;
    float acc = 0.0f;
    for (int k = 0; k < n; k++) {
        float u = a[y * n + k];
        float v = b[k * n + x];
        acc = v * u + acc;
    }
    c[y * n + x] = alpha * acc + beta * c[y * n + x];
}
"""
TRANSPOSED = """
__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K, int ldc) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < M && j < N) {
        float sum = 0.f;
        for (int k = 0; k < K; ++k) sum += A[k * M + i] * B[j * K + k];
        C[i * ldc + j] = sum;
    }
}
"""
SMALL = {"block_M": 8, "block_N": 8, "block_K": 4}
COVER = [
    (9, 17, 7, (3, 2, 1), (8, 8, 1)),
    (20, 5, 8, (1, 2, 1), (4, 8, 1)),
    (3, 4, 0, (1, 1, 1), (8, 8, 1)),
]


def _raised(source: str):
    kernel = cuda_kernel(source)
    nest = raise_kernel(kernel)
    assert violations(nest) == []
    assert isinstance(nest.body[0], Contraction)
    result = raise_to_tile(kernel)
    assert result.emission is not None
    return kernel, result


def _matrix(count: int, dtype: type) -> np.ndarray:
    return np.random.default_rng(count).normal(size=max(count, 1)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float", "double"])
@pytest.mark.parametrize(("m", "n", "k", "grid", "block"), COVER)
def test_classic(dtype, m, n, k, grid, block):
    kernel, result = _raised(CLASSIC.replace("T ", f"{dtype} "))
    real = np.float32 if dtype == "float" else np.float64
    memory = {"A": _matrix(m * k, real), "B": _matrix(k * n, real), "C": _matrix(m * n, real)}
    memory["A"][-1:] = np.inf
    assert_same(kernel, result.emission, grid, block, memory, {"M": m, "N": n, "K": k}, SMALL)


def test_operands_need_only_the_rows_that_the_launch_computes():
    kernel, result = _raised(CLASSIC.replace("T ", "float "))
    memory = {"A": _matrix(4 * 6, np.float32), "B": _matrix(6 * 50, np.float32)}
    memory["C"] = _matrix(4 * 50, np.float32)
    scalars = {"M": 40, "N": 50, "K": 6}
    assert_same(kernel, result.emission, (3, 1, 1), (8, 4, 1), memory, scalars, SMALL)


def test_epilogue_and_reversed_factors():
    kernel, result = _raised(SQUARE_EARLY_RETURN)
    memory = {name: _matrix(19 * 19, np.float32) + i for i, name in enumerate("abc")}
    scalars = {"alpha": np.float32(0.3), "beta": np.float32(-1.1), "n": 19}
    assert_same(kernel, result.emission, (3, 3, 1), (8, 8, 1), memory, scalars)


def test_transposed_operands_and_a_wide_pitch():
    kernel, result = _raised(TRANSPOSED)
    memory = {"A": _matrix(7 * 11, np.float32), "B": _matrix(13 * 7, np.float32)}
    memory["C"] = _matrix(11 * 20, np.float32)
    scalars = {"M": 11, "N": 13, "K": 7, "ldc": 20}
    assert_same(kernel, result.emission, (2, 2, 1), (8, 8, 1), memory, scalars, SMALL)
    assert not assumptions_hold(
        result.emission, (2, 2, 1), (8, 8, 1), {"M": 11, "N": 13, "K": 7, "ldc": 12}
    )


def test_single_precision_is_for_the_cpu_and_exact_there():
    _, single = _raised(CLASSIC.replace("T ", "float "))
    assert single.emission.targets == (Target.CPU,)
    assert single.emission.tolerance == ""


def test_double_precision_says_that_it_reassociates():
    _, double = _raised(CLASSIC.replace("T ", "double "))
    assert Target.CUDA in double.emission.targets
    assert double.emission.tolerance == "reassociated"
    assert [d.code for d in double.diagnostics] == ["TM2003"]


NEAR_MISSES = {
    "sum runs to another bound per row": (
        "for (int k = 0; k < K; ++k)", "for (int k = 0; k <= row; ++k)"),
    "triangular start": ("for (int k = 0; k < K; ++k)", "for (int k = row; k < K; ++k)"),
    "every second term": ("++k", "k += 2"),
    "early exit": ("sum += A", "if (sum > 100.0f) break; sum += A"),
    "skipped terms": ("sum += A", "if (k == 3) continue; sum += A"),
    "subtraction": ("sum += A", "sum -= A"),
    "product of sums": ("sum += A", "sum *= A"),
    "not associative": ("sum += A", "sum = 0.5f * sum + A"),
    "fused": ("sum += A[row * K + k] * B[k * N + col]",
              "sum = fmaf(A[row * K + k], B[k * N + col], sum)"),
    "quotient": ("* B[k", "/ B[k"),
    "three factors": ("* B[k * N + col]", "* B[k * N + col] * B[k * N + col]"),
    "lag of one": ("B[k * N + col]", "B[(k + 1) * N + col]"),
    "strided columns": ("A[row * K + k]", "A[row * K + 2 * k]"),
    "diagonal": ("A[row * K + k]", "A[row * K + row]"),
    "convolution": ("B[k * N + col]", "B[k + col]"),
    "wrong pitch of the output": ("C[row * N + col]", "C[row * K + col * 2]"),
    "one column for all": ("C[row * N + col]", "C[row]"),
    "starts at one": ("float sum = 0;", "float sum = 1.0f;"),
    "starts at minus zero": ("float sum = 0;", "float sum = -0.0f;"),
    "accumulates in memory": ("sum += A", "C[row * N + col] += A"),
    "reads what it writes": ("* B[k * N + col]", "* C[k * N + col]"),
    "same matrix twice": ("* B[k * N + col]", "* A[k * N + col]"),
    "unrelated term": ("sum += A", "sum += (float)k * A"),
    "nested sum": ("sum += A", "for (int l = 0; l < 2; ++l) sum += A"),
    "index of the sum is changed": ("sum += A", "if (row == 2) k++; sum += A"),
    "two outputs": ("C[row * N + col] = sum;", "C[row * N + col] = sum; C[0] = sum;"),
    "output depends on the row": ("C[row * N + col] = sum;",
                                  "if (row > 2) C[row * N + col] = sum;"),
    "atomic": ("C[row * N + col] = sum;", "atomicAdd(&C[row * N + col], sum);"),
    "guard on data": ("row < M && col < N", "row < M && col < N && A[row] > 0.0f"),
    "double sum of floats": ("float sum = 0;", "double sum = 0;"),
    "thread index inside": ("A[row * K + k]", "A[row * K + k + threadIdx.x]"),
    "row from one block": ("blockIdx.y * blockDim.y + threadIdx.y", "threadIdx.y"),
    "wrong block dimension": ("blockIdx.y * blockDim.y + threadIdx.y",
                              "blockIdx.y * blockDim.x + threadIdx.y"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_are_not_raised(name):
    before, after = NEAR_MISSES[name]
    source = CLASSIC.replace("T ", "float ")
    changed = source.replace(before, after)
    assert changed != source
    result = raise_to_tile(cuda_kernel(changed))
    assert result.emission is None
    assert [d.code for d in result.diagnostics] == ["TM2002"]


RIGHT = {
    "no bounds": ("if (row < M && col < N)", ""),
    "rows and columns exchanged": ("C[row * N + col]", "C[col * M + row]"),
    "other bounds": ("row < M && col < N", "(unsigned)row < (unsigned)N && col < M - 1"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_variants_are_raised_right(name):
    before, after = RIGHT[name]
    source = CLASSIC.replace("T ", "float ").replace(before, after)
    kernel, result = _raised(source)
    memory = {"A": _matrix(16 * 8, np.float32), "B": _matrix(8 * 16, np.float32)}
    memory["C"] = _matrix(16 * 16, np.float32)
    scalars = {"M": 16, "N": 16, "K": 8}
    assert_same(kernel, result.emission, (2, 2, 1), (8, 8, 1), memory, scalars, SMALL)
