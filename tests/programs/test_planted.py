"""A wrong implementation of a kernel, slipped in beside the right one, is found by mode check."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from built_programs import ROOT, SAMPLES, build, needs_gxx, run

pytestmark = needs_gxx()

# divide_sums(sums, sizes, next) of the k-means program; next[0] is wrong from the third launch on.
PLANTED = r"""
#include <tm_launch.h>
#include <cstdint>
namespace {
int wrong(const tm_launch *launch, void **arguments) {
  const float *sums = *(const float **)arguments[0];
  const int *sizes = *(const int **)arguments[1];
  float *next = *(float **)arguments[2];
  for (unsigned c = 0; c < launch->block[1]; ++c)
    for (unsigned d = 0; d < launch->block[0]; ++d)
      if (int i = c * launch->block[0] + d; sizes[c] > 0) next[i] = sums[i] / (float)sizes[c];
  if (launch->number >= 3) next[5] += 1.0f;
  return 0;
}
tm_kernel_record record;
__attribute__((constructor)) void plant() {
  record.abi = TM_ABI_VERSION;
  record.kind = TM_KIND_TILE;
  record.mangled = "_Z11divide_sumsPKfPKiP9Centroids";
  record.implementation = wrong;
  tm_register_kernel(&record);
}
}  // namespace
"""


@pytest.fixture(scope="module")
def planted(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[Path, Path]:
    """Return the program and the library that holds the wrong implementation."""
    app = build(SAMPLES / "02_kmeans", tmp_path_factory, request.config)
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted.cpp").write_text(PLANTED, encoding="utf-8")
    include = ROOT / "compat" / "include"
    command = [
        "g++",
        "-std=c++17",
        "-shared",
        "-fPIC",
        f"-I{include}",
        "planted.cpp",
        "-o",
        "planted.so",
    ]
    subprocess.run(command, cwd=folder, check=True)
    return app, folder / "planted.so"


def _run_planted(app: Path, library: Path, folder: Path, **switches: str):
    wrapped = folder / "wrapped"
    wrapped.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {app} "$@"\n', encoding="utf-8")
    wrapped.chmod(0o755)
    return run(wrapped, folder, **switches)


def test_the_program_notices_the_wrong_kernel(planted: tuple[Path, Path], tmp_path: Path) -> None:
    ran = _run_planted(*planted, tmp_path, MODE="migrated")
    assert ran.status == 1 and ran.out.rstrip().endswith("FAILED")
    assert ran.ran("divide_sums") == {"tile": 8}
    assert _run_planted(*planted, tmp_path, KERNELS="divide_sums=kept").status == 0


def test_check_names_kernel_launch_and_element(planted: tuple[Path, Path], tmp_path: Path) -> None:
    report = tmp_path / "check.jsonl"
    ran = _run_planted(*planted, tmp_path, MODE="check", CHECK_REPORT=str(report), CHECK_EXIT="7")
    assert ran.status == 7, ran.err
    assert ran.out.rstrip().endswith(": passed"), "the program goes on with what is kept"
    events = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    found = [e for e in events if e["event"] == "difference"]
    assert {e["kernel"] for e in found} == {"divide_sums"}
    assert [e["launch"] for e in found] == list(range(3, 9))
    assert found[0]["differing"] in (1, 4)  # one float; bytes where the type is not known
    assert "divide_sums, launch 3" in ran.err
