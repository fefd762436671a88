"""Recorded launches are run again: equal, different, or a reason why they were not compared."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from built_programs import build, needs_gxx, run
from tool import migrate

from hipify_tile.build import kernel_objects
from hipify_tile.cli import evidence_run, session
from hipify_tile.report.model import KernelReport, Verdict
from hipify_tile.rewriter.model import Emission

pytestmark = needs_gxx()
SOURCE = """
#include <cstdio>
__device__ int offset = 5;
__constant__ int factors[2] = {2, 3};
__global__ void twice(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 2 + offset;
}
__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factors[i & 1];
}
__global__ void clocked(long long *x) { *x = clock64(); }
int main() {
  int *x;
  float *y;
  long long *z;
  cudaMalloc(&x, 400);
  cudaMalloc(&y, 400);
  cudaMalloc(&z, 8);
  cudaMemset(x, 1, 400);
  cudaMemset(y, 60, 400);
  for (int k = 0; k < 2; ++k) {
    twice<<<2, 64>>>(x, 100);
    int more = 6 + k;
    cudaMemcpyToSymbol(offset, &more, sizeof more);
    scale<<<2, 64>>>(y, 100);
    clocked<<<1, 1>>>(z);
  }
  return cudaDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The folder of the source, with what it recorded."""
    folder = tmp_path_factory.mktemp("replayed")
    (folder / "main.cu").write_text(SOURCE)
    app = build(folder / "main.cu", tmp_path_factory, request.config)
    ran = run(app, folder, MODE="record", RECORD=str(folder / "saved"))
    assert ran.status == 0, ran.err
    return folder


def test_recorded_launches_are_replayed(recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    words = ("--replay", recorded / "saved", "--format", "json", "--output-file", file)
    done = migrate("verify", recorded / "main.cu", *words, cwd=tmp_path)
    report = json.loads(file.read_text())
    found = {k["name"]: (k["verdict"], k["programs"]) for k in report["kernels"]}
    for name in ("twice", "scale"):
        verdict, (row,) = found[name]
        assert verdict == "verified"
        assert (row["equal"], row["different"], row["unchecked"]) == (2, 0, 0), row
    verdict, (row,) = found["clocked"]
    assert verdict != "verified" and row["unchecked"] == 2
    reasons = [d["notes"] for d in report["diagnostics"] if d["code"] == "TM5012"]
    assert len(reasons) == 1 and "2 launches of clocked" in reasons[0][0], reasons
    assert done.returncode == 1  # clocked has findings of its own


def _replayed(folder: Path, saved: Path) -> tuple[dict[str, KernelReport], list[str]]:
    request = session.Request(
        paths=(folder / "main.cu",), verify=True, replay=saved, quiet=True, jobs=1
    )
    report = session.make_report(request)
    texts = [" ".join(d.notes) for d in report.diagnostics if d.code == "TM5012"]
    return {k.name: k for k in report.kernels}, texts


def test_a_wrong_kernel_is_found(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(kernel: KernelReport) -> tuple[Emission, ...]:
        found = original(kernel)
        if kernel.name != "twice":
            return found
        changed = [e.source.replace("* 2", "* 3") for e in found]
        assert changed != [e.source for e in found]
        return tuple(replace(e, source=s) for e, s in zip(found, changed, strict=True))

    original = evidence_run._emissions
    monkeypatch.setattr(evidence_run, "_emissions", planted)
    monkeypatch.setattr(kernel_objects, "_tried", lambda *arguments: {})
    kernels, _ = _replayed(recorded, recorded / "saved")
    assert kernels["scale"].verdict is Verdict.VERIFIED
    wrong = kernels["twice"]
    assert wrong.verdict is Verdict.UNVERIFIED
    (why,) = [d for d in wrong.diagnostics if d.code == "TM5010"]
    assert "2 of 2 launches differ" in why.notes[0] and "x[0]" in why.notes[1], why.notes


def test_damage_costs_a_launch(recorded: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(recorded / "saved", saved)
    (saved / "twice-1" / "before-0.bin").write_bytes(b"short")
    (saved / "scale-1" / "after-0.bin").unlink()
    launch = saved / "scale-2" / "launch.json"
    launch.write_text(launch.read_text().replace("_Z5scale", "_Z5other"))
    kernels, texts = _replayed(recorded, saved)
    assert kernels["twice"].programs[0].equal == 1
    assert kernels["scale"].programs[0].unchecked == 1
    every = "\n".join(texts)
    for words in ("do not have the sizes", "No such file", "the sources have no such kernel"):
        assert words in every, every


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: None, "no such folder"),
        (lambda f: f.mkdir(), "holds no recorded launch"),
        (lambda f: _one(f, "{"), "not a recorded launch"),
        (lambda f: _one(f, '{"format": 9}'), "format 9 is not known"),
    ],
)
def test_what_holds_no_launches_is_a_usage_error(
    recorded: Path, tmp_path: Path, make: object, words: str
) -> None:
    assert callable(make)
    make(tmp_path / "saved")
    done = migrate("verify", recorded / "main.cu", "--replay", tmp_path / "saved", cwd=tmp_path)
    assert done.returncode == 2 and words in done.stderr, done.stderr


def _one(folder: Path, text: str) -> None:
    (folder / "k-1").mkdir(parents=True)
    (folder / "k-1" / "launch.json").write_text(text)
