"""Verdicts on kernels that race although every order of threads gives the same result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.judge import Limits
from hipify_tile.verify.model import Outcome
from hipify_tile.verify.runner import verify_kernels

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

SOURCE = """\
__global__ void racing(int *bins, const int *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[d[i] & 7]++;
}
__global__ void highest(int *m, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > *m) *m = x[i];
}
__global__ void raised(int *flag, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 3) *flag = 1;
}
__global__ void counted(int *bins, const int *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[d[i] & 7], 1);
}
"""


def test_a_race_is_not_verified_whatever_its_results(tmp_path: Path) -> None:
    path = tmp_path / "racy.cu"
    path.write_text(SOURCE)
    analysis = analyze_unit(CompileUnit(str(path), str(tmp_path), (), str(tmp_path)))
    levels = {
        f.id: emit_levels(f.kernel, levels=(Level.LOOP,)) for f in analysis.kernels if f.kernel
    }
    verdicts = verify_kernels(analysis, levels, limits=Limits(seconds=10))
    found = {}
    for fact in analysis.kernels:
        (found[fact.name],) = verdicts[fact.id].values()
    for name, place, line in (("racing", "bins[", 3), ("highest", "m[0]", 7)):
        (why,) = found[name].diagnostics
        assert found[name].outcome is Outcome.UNVERIFIED and why.code == "TM5004"
        assert "threads race" in why.notes[0] and place in why.notes[0]
        assert f"racy.cu:{line}" in why.notes[0], why.notes
    assert found["raised"].outcome is Outcome.VERIFIED, found["raised"]
    assert found["counted"].outcome is Outcome.VERIFIED, found["counted"]


PROGRAM = """\
__global__ void summed(float *out, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *out += x[i];
}
__global__ void smoothed(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) a[i] = 0.5f * (a[i - 1] + a[i + 1]);
}
__global__ void turned(float *out, const float *in, int rows, int cols, int pitch) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && c < cols) out[r * pitch + c] = in[c * rows + r];
}
int main() {
  int n = 10000;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  summed<<<40, 256>>>(a, b, n);
  smoothed<<<40, 256>>>(a, n);
  turned<<<dim3(4, 4), dim3(16, 16)>>>(a, b, 50, 60, 64);
}
"""


def test_races_of_the_programs_own_launch_count_and_those_of_invented_pitches_do_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.cu"
    path.write_text(PROGRAM)
    analysis = analyze_unit(CompileUnit(str(path), str(tmp_path), (), str(tmp_path)))
    levels = {
        f.id: emit_levels(f.kernel, levels=(Level.LOOP,)) for f in analysis.kernels if f.kernel
    }
    verdicts = verify_kernels(analysis, levels, limits=Limits(seconds=10))
    for fact in analysis.kernels:
        (found,) = verdicts[fact.id].values()
        if fact.name == "turned":
            assert found.outcome is Outcome.VERIFIED, found
        else:
            assert [d.code for d in found.diagnostics] == ["TM5004"], found
            assert any("threads race: " in note for note in found.diagnostics[0].notes)
