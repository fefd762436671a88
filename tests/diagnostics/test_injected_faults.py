"""Codes that no source can show, produced by a fault in a stage of the tool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hipify_tile import driver
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.diagnostics.registry import REGISTRY
from hipify_tile.driver import Options, Stages, run_units
from hipify_tile.ir.expr import Var
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.stmt import Assign
from hipify_tile.ir.types import I32
from hipify_tile.report.model import KernelReport, Verdict
from hipify_tile.rewriter.model import Level, LevelResult

PACKAGE = Path(driver.__file__).parent
SOURCE = """
__global__ void add(const int *a, const int *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    int *p, n = 1000;
    cudaMalloc(&p, n * sizeof(int));
    add<<<4, 256>>>(p, p, p, n);
}
"""


def _edited(kernel: Kernel, root: str, old: str, new: str) -> tuple[LevelResult, ...]:
    results = []
    for result in driver.emit(kernel, root):
        if result.level is Level.LOOP and result.emission is not None:
            assert old in result.emission.source
            source = result.emission.source.replace(old, new)
            results.append(LevelResult(Level.LOOP, replace(result.emission, source=source)))
    return tuple(results)


def rejected_program(kernel: Kernel, root: str) -> tuple[LevelResult, ...]:
    """Emit what TileLang does not know."""
    return _edited(kernel, root, "T.Kernel(", "T.NoSuchKernel(")


def wrong_program(kernel: Kernel, root: str) -> tuple[LevelResult, ...]:
    """Emit another operator."""
    return _edited(kernel, root, "a[i] + b[i]", "a[i] - b[i]")


def malformed_program(kernel: Kernel, root: str) -> tuple[LevelResult, ...]:
    """Give the rewriter a program with an unknown local."""
    broken = (Assign("no_such_local", Var("i", I32)), *kernel.body)
    return driver.emit(replace(kernel, body=broken), root)


def failing_stage(kernel: Kernel, root: str) -> tuple[LevelResult, ...]:
    """Fail as a bug would."""
    raise ZeroDivisionError("a bug")


@pytest.mark.parametrize(
    ("code", "emit"),
    [
        ("TM2402", rejected_program),
        ("TM5001", wrong_program),
        ("TM9001", failing_stage),
        ("TM9002", malformed_program),
    ],
)
def test_fault_gives_its_code_and_never_verified(code, emit, tmp_path):
    path = tmp_path / "add.cu"
    path.write_text(SOURCE)
    unit = CompileUnit(path=str(path), directory=str(tmp_path), root=str(tmp_path))
    (report,) = run_units([unit], Options(verify=True), Stages(emit=emit))
    (kernel,) = report.kernels
    assert isinstance(kernel, KernelReport)
    assert kernel.verdict is Verdict.KEPT
    assert code in {d.code for d in kernel.diagnostics}


def test_every_registered_code_is_emitted_somewhere():
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if path.name != "registry.py"
    )
    assert {code for code in REGISTRY if f'"{code}"' not in text} == set()
