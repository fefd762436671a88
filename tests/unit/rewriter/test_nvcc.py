"""CUDA output of both levels is accepted by nvcc."""

import subprocess

import pytest

from hipify_tile.rewriter.model import Level
from hipify_tile.verify.lowering import lower, tilelang_include


@pytest.mark.nvcc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_cuda_output_compiles(execution, tmp_path, arch):
    from hipify_tile.ir.expr import Const, Load
    from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
    from hipify_tile.ir.stmt import AtomicOp, AtomicRMW, Barrier, Store
    from hipify_tile.ir.types import I32, I64, U64

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
    for level, options in ((Level.LOOP, {}), (Level.SIMT, {"block": (32, 1, 1)})):
        emission = execution.emit(kernel, level)
        lowered = lower(emission, "cuda", {**options, "arch": arch})
        source = tmp_path / f"{level}.cu"
        source.write_text(lowered.source)
        include = tilelang_include()
        flag = "sm_90a" if arch == "sm_90" else arch
        done = subprocess.run(
            ["nvcc", "-std=c++17", f"-arch={flag}", f"-I{include}", "-w",
             f"-I{include.parent / '3rdparty/cutlass/include'}", "-cubin", str(source),
             "-o", str(tmp_path / "out.cubin")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[:800] + lowered.source
