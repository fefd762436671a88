"""Every emission of the samples that names CUDA lowers for it, and nvcc compiles the text."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lowered_samples import lower_all, one_unit
from raise_support import cuda_kernel

from hipify_tile.ir.expr import Const, Load
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.stmt import AtomicOp, AtomicRMW, Barrier, Store
from hipify_tile.ir.types import I32, I64, U64
from hipify_tile.rewriter.model import Level, Target
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.lowering import Lowered, lower, tilelang_include

Texts = dict[str, Lowered]
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


@pytest.fixture(scope="module")
def texts(emitted) -> Texts:
    """CUDA texts by id; none has a construct that depends on the architecture."""
    pairs = [(e.id, e.emission) for e in emitted if Target.CUDA in e.emission.targets]
    lowered, refused = lower_all(pairs, "cuda")
    assert not refused
    assert not [key for key, text in lowered.items() if "tl::gemm" in text.source]
    return lowered


def nvcc(text: str, arch: str, folder: Path) -> None:
    """Compile a CUDA text to a cubin."""
    source = folder / "kernels.cu"
    source.write_text(text, encoding="utf-8")
    include = tilelang_include()
    cutlass = include.parent / "3rdparty" / "cutlass" / "include"
    command = ["nvcc", "-std=c++17", f"-arch={arch}", f"-I{include}", f"-I{cutlass}", "-w"]
    done = subprocess.run(
        [*command, "-cubin", str(source), "-o", str(folder / "out.cubin")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]


def test_every_level_lowers(texts):
    assert {key.rpartition(" ")[2] for key in texts} == {"tile", "loop", "simt"}
    assert all("__global__" in lowered.source for lowered in texts.values())


@needs_nvcc
@pytest.mark.nvcc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_nvcc_compiles_the_samples(texts, arch, tmp_path):
    nvcc(one_unit(texts.values()), arch, tmp_path)


@needs_nvcc
@pytest.mark.nvcc
def test_a_text_with_helpers_compiles_alone(tmp_path):
    """64-bit atomics call helpers, which TileLang puts in front of its own includes."""
    zero = Const(0, I32)
    body = (
        Store("s", (zero,), Load("x", (zero,), U64)),
        Barrier(),
        AtomicRMW(AtomicOp.ADD, "x", (zero,), (Load("s", (zero,), U64),)),
        AtomicRMW(AtomicOp.CAS, "y", (zero,), (Const(1, I64), Const(2, I64))),
        AtomicRMW(AtomicOp.MAX, "y", (zero,), (Const(3, I64),)),
    )
    buffers = (
        Buffer("x", U64, Scope.PARAM, storage="x", written=True),
        Buffer("y", I64, Scope.PARAM, storage="y", written=True),
        Buffer("s", U64, Scope.SHARED, (4,), written=True),
    )
    params = (Param("x", U64, 0, pointer=True), Param("y", I64, 1, pointer=True))
    kernel = Kernel("wide", "_Z4wide", params, (8, 8), buffers, (), body)
    (simt,) = emit_levels(kernel, levels=(Level.SIMT,))
    lowered = lower(simt.emission, "cuda", {"block": (32, 1, 1), "arch": "sm_80"})
    nvcc(lowered.source, "sm_80", tmp_path)


DOUBLE_PRODUCT = """
__global__ void product(const double *A, const double *B, double *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    if (row < M && col < N) {
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_product_of_doubles_becomes_matrix_operations(arch, tmp_path):
    (tile,) = emit_levels(cuda_kernel(DOUBLE_PRODUCT), levels=(Level.TILE,))
    assert Target.CUDA in tile.emission.targets
    lowered = lower(tile.emission, "cuda", {"arch": arch})
    assert "gemm" in lowered.source or "mma" in lowered.source
    if shutil.which("nvcc"):
        nvcc(lowered.source, "sm_90a" if arch == "sm_90" else arch, tmp_path)
