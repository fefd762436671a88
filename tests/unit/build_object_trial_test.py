"""Objects that do not compute what the original does stay out of programs, however they run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import UnitAnalysis
from hipify_tile.build import kernel_objects as module
from hipify_tile.build.kernel_objects import KernelObjects, kernel_objects
from hipify_tile.build.objects import ObjectSource
from hipify_tile.build.plan import Plan
from hipify_tile.project import discover
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.rewriter.pipeline import emit_levels

pytestmark = pytest.mark.slow
SOURCE = """
__device__ int bias = 3;
__global__ void scale(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2.0f + bias;
}
__global__ void sums(float *out, const float *in, int n) {
  __shared__ float part[64];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 4000);
  cudaMalloc(&b, 4000);
  scale<<<4, 256>>>(a, b, 1000);
  sums<<<1, 64>>>(a, b, 1000);
}
"""


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> UnitAnalysis:
    path = tmp_path_factory.mktemp("source") / "main.cu"
    path.write_text(SOURCE)
    return analyze_unit(discover([path]).units[0])


def made(analysis: UnitAnalysis, folder: Path) -> KernelObjects:
    emissions: dict[tuple[str, str], Sequence[Emission]] = {}
    for fact in analysis.kernels:
        results = emit_levels(fact.kernel) if fact.kernel is not None else ()
        found = [r.emission for r in results if r.emission and r.level is Level.LOOP]
        emissions[analysis.unit.path, fact.mangled] = found
    plan = Plan([analysis], emissions, folder / "app", folder, folder)
    return kernel_objects(plan, [analysis], {analysis.unit.path: {"bias": "tm_symbol_0_0"}})


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "user_cache_dir", lambda: tmp_path / "cache")


def test_objects_that_are_equal_are_taken_and_not_tried_twice(
    analysis: UnitAnalysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(analysis, tmp_path / "a")
    assert not first.notes
    assert [k.levels for k in first.kernels] == [("loop",), ("loop",)]
    assert all(path.exists() for path in first.objects)
    monkeypatch.setattr(module, "ObjectRun", None)
    assert len(made(analysis, tmp_path / "b").objects) == 2


# Kernel, where its text changes, what, and into what.
FAULTS = {
    "values of the fast body": ("scale", "void tm_run_fast", r"2\.0+e\+00f", "3.0f"),
    "values of the plain body": ("scale", "void tm_run", r"2\.0+e\+00f", "3.0f"),
    "last block": ("scale", "void tm_run_fast", r"tm_block < tm_last", "tm_block + 1 < tm_last"),
    "first block": ("scale", "void tm_run", r"tm_block = tm_first", "tm_block = tm_first + 1"),
    "sum of the fast body": ("sums", "void tm_run_fast", r"0 < k", "1 < k"),
    "wild store": ("scale", "void tm_run_fast", r"out\[\(", "out[1000000 + ("),
    "arguments": ("scale", "int tm_kernel", r"memcpy\(&n, [^;]*;", "n = 7;"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_object_with_a_fault_is_left_out(
    analysis: UnitAnalysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    kernel, function, old, new = FAULTS[fault]

    def planted(*args: object, **keys: object) -> ObjectSource:
        source = original(*args, **keys)  # type: ignore[arg-type]
        if kernel not in source.entry:
            return source
        start = re.search(
            re.escape(function) + (r"\w*\(" if "plain" not in fault else r"\("), source.text
        )
        assert start is not None
        text, count = re.subn(old, new, source.text[start.start() :], count=1)
        assert count == 1, source.text
        return replace(source, text=source.text[: start.start()] + text)

    original = module.object_source
    monkeypatch.setattr(module, "object_source", planted)
    found = made(analysis, tmp_path)
    levels = {k.mangled: k.levels for k in found.kernels}
    assert sum(not v for v in levels.values()) == 1
    (note,) = found.notes
    assert note.code == "TM6005" and f"main.cu:{kernel}" in note.kernel, note
