"""A program with kernels of every kind is rewritten, built by g++ and runs old and new kernels.

The runtime is a stand-in of one thread (``tests/support/launch_standin.cpp``), which runs ranges of
blocks in reverse.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import UnitAnalysis
from hipify_tile.build.objects import object_source
from hipify_tile.build.plan import Plan
from hipify_tile.build.program import build
from hipify_tile.compat import include_dir
from hipify_tile.project import discover
from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.rewriter.pipeline import emit_levels

STANDIN = Path(__file__).parent.parent / "support" / "launch_standin.cpp"

HEADER = """\
#pragma once
template <class T> __global__ void fill(T *x, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}
template <class T> void run_fill(T *x, T value, int n) {
  fill<T><<<(n + 31) / 32, 32>>>(x, value, n);
}
void second_file(float *x, int n);
"""

MAIN = """\
#include <stdio.h>
#include "shared.cuh"
__constant__ float factor[2];
__global__ void later(float *x, int n);
namespace {
__global__ void hidden(float *x, int) { x[threadIdx.x] += 1.0f; }
}
static __global__ void scale(float *__restrict__ launch, const int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) launch[i] = launch[i] * factor[0] + factor[1];
}
#define LAUNCH(kernel, ...) do { kernel<<<2, 32>>>(__VA_ARGS__); } while (0)
#define ARGUMENTS(g, b) <<<g, b>>>
#define DEFINE(NAME, OP) \\
  __global__ void NAME(float *x, int n) { \\
    int i = blockIdx.x * blockDim.x + threadIdx.x; \\
    if (i < n) x[i] = x[i] OP 2; \\
  }
DEFINE(twice, *)
__global__ void count(const float *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] > 50.0f], 1);
}
__global__ void staged(float *x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[threadIdx.x] + 0.5f;
}
int main() {
  const int n = 50;
  float *x, host[n];
  int *bins, result[2];
  cudaMalloc((void **)&x, n * sizeof(float));
  cudaMalloc((void **)&bins, 2 * sizeof(int));
  cudaMemset(bins, 0, 2 * sizeof(int));
  float f[2] = {3.0f, 1.0f};
  cudaMemcpy((void *)factor, f, sizeof f, cudaMemcpyHostToDevice);
  run_fill(x, 2.0f, n);
  LAUNCH(scale, x, n);
  void (*pointer)(float *, int) = later;
  pointer<<<dim3(2), 32>>>(x, n);
  hidden<<<1, {n}>>>(x, 0);
  twice ARGUMENTS(2, 32) (x, n);
  count<<<2, 32>>>(x, bins, n);
  staged<<<1, n, n * sizeof(float)>>>(x);
  second_file(x, n);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(result, bins, sizeof result, cudaMemcpyDeviceToHost);
  printf("%g %g %d %d\\n", host[0], host[n - 1], result[0], result[1]);
  return 0;
}
__global__ void later(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += (float)i;
}
"""

SECOND = """\
#include "shared.cuh"
static __global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] -= 100.0f;
}
void second_file(float *x, int n) { scale<<<2, 32>>>(x, n); run_fill(x, 7.0f, 1); }
"""
# 2 → ·3+1 = 7, + i, + 1, · 2, + .5, - 100; the first element is filled again.
EXPECTED = "7 14.5 18 32\n"


def _lowest(analysis: UnitAnalysis, level: Level) -> dict[tuple[str, str], Sequence[Emission]]:
    found: dict[tuple[str, str], Sequence[Emission]] = {}
    for fact in analysis.kernels:
        results = emit_levels(fact.kernel) if fact.kernel is not None else ()
        found[analysis.unit.path, fact.mangled] = [
            r.emission for r in results if r.emission is not None and r.level is level
        ]
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("program")
    sources = {"main.cu": MAIN.replace("\n", "\r\n"), "second.cu": SECOND, "shared.cuh": HEADER}
    for name, text in sources.items():
        (folder / name).write_bytes(text.encode())
    runtime = folder / "runtime"
    runtime.mkdir()
    library = runtime / "libtm_cudart.so"
    command = ["g++", "-O1", "-fPIC", "-shared", f"-I{include_dir()}", str(STANDIN)]
    subprocess.run([*command, "-o", str(library)], check=True)
    project = discover([folder])
    analyses = [analyze_unit(unit) for unit in project.units]
    emissions: dict[tuple[str, str], Sequence[Emission]] = {}
    for analysis in analyses:
        emissions.update(_lowest(analysis, Level.LOOP))
    output = folder / "app"
    built = build(Plan(analyses, emissions, output, folder / "objects", runtime))
    assert built.output == output, built.diagnostics
    return {"app": output, "folder": folder}


def _run(app: Path, kind: str) -> tuple[str, list[str]]:
    environment = {"STANDIN_KIND": kind, "PATH": ""}
    done = subprocess.run([app], capture_output=True, text=True, env=environment, check=True)
    return done.stdout, done.stderr.splitlines()


def test_kept_and_migrated_kernels_compute_the_same(program: Mapping[str, Path]) -> None:
    kept, kinds = _run(program["app"], "0")
    assert kept == EXPECTED
    assert {k.split()[-1] for k in kinds} == {"0"}
    migrated, kinds = _run(program["app"], "2")
    assert migrated == EXPECTED
    assert sum(k.endswith("kind 2") for k in kinds) >= 6, kinds


def test_an_addition_whose_result_is_used_is_atomic(tmp_path: Path) -> None:
    path = tmp_path / "take.cu"
    path.write_text(
        "__global__ void take(int *counters_of_all_the_groups, int *slots, int group_of_this,\n"
        "int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) slots[atomicAdd(&counters_of_all_the_groups[group_of_this], 1)] = i;\n}\n"
        "int main() { take<<<2, 32>>>(nullptr, nullptr, 0, 1); }\n"
    )
    analysis = analyze_unit(discover([path]).units[0])
    ((emission,),) = _lowest(analysis, Level.LOOP).values()
    assert "atomic_add(\n" in emission.source, "the call is to be spread over lines"
    (fact,) = analysis.kernels
    assert fact.kernel is not None
    text = object_source(fact.kernel, emission, entry="take").text
    assert "= tm_atomic_add_int32(" in text and "atomic_old" not in text


def test_manifest_gives_each_kernel_a_state(program: Mapping[str, Path]) -> None:
    manifest = json.loads(Path(f"{program['app']}.kernels.json").read_text())
    states = {k["id"]: k["state"] for k in manifest["kernels"]}
    assert states["main.cu:later"] == states["main.cu:twice"] == "migrated"
    assert len(states) == 8


def test_program_needs_no_python(program: Mapping[str, Path]) -> None:
    done = subprocess.run(["ldd", program["app"]], capture_output=True, text=True, check=True)
    assert "python" not in done.stdout
    assert "libtm_cudart.so" in done.stdout


def _plan(program: Mapping[str, Path], level: Level, *flags: str) -> Plan:
    folder = program["folder"]
    path = folder / "one.cu"
    path.write_text("__global__ void k(int *x) { *x = 1; }\nint main() { k<<<1, 1>>>(nullptr); }\n")
    analysis = analyze_unit(discover([path]).units[0])
    output = folder / "one"
    emissions = _lowest(analysis, level)
    return Plan([analysis], emissions, output, folder / "work", folder / "runtime", flags=flags)


def test_link_errors_are_reported(program: Mapping[str, Path]) -> None:
    built = build(_plan(program, Level.LOOP, "-lno_such_library_here"))
    assert built.output is None
    assert [d.code for d in built.diagnostics] == ["TM6003"]


def test_kernel_without_an_object_is_kept(program: Mapping[str, Path]) -> None:
    built = build(_plan(program, Level.SIMT))
    assert built.output is not None
    assert [d.code for d in built.diagnostics] == ["TM6004"]
    assert [k.levels for k in built.kernels] == [()]


def test_a_library_of_kernels_hides_the_program_and_registers(program: Mapping[str, Path]) -> None:
    plan = replace(
        _plan(program, Level.LOOP, "-shared", "-fvisibility=hidden"),
        output=program["folder"] / "libone.so",
    )
    built = build(plan)
    assert built.output is not None, built.diagnostics
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", built.output], capture_output=True, text=True
    )
    names = {line.split()[-1] for line in symbols.stdout.splitlines()}
    assert names == {"tm_kernel__Z1kPi_loop"}
    # Loading it registers both implementations.
    runtime = ctypes.CDLL(str(plan.runtime / "libtm_cudart.so"), mode=ctypes.RTLD_GLOBAL)
    before = runtime.standin_record_count()
    ctypes.CDLL(str(built.output))
    assert runtime.standin_record_count() == before + 2


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA toolkit")
def test_rewritten_files_are_cuda_files(program: Mapping[str, Path]) -> None:
    folder = program["folder"]
    headers = folder / "rewritten_header"
    headers.mkdir()
    shutil.copy(include_dir() / "tm_rewritten.h", headers)
    (copy,) = (folder / "objects" / "overlay").rglob("main.cu")
    text = re.sub(rb"extern .C. __attribute__.*", b"", copy.read_bytes())
    (copy.parent / "again.cu").write_bytes(text)
    command = [
        "nvcc",
        "-arch=sm_80",
        "-I",
        headers,
        "-c",
        copy.parent / "again.cu",
        "-o",
        folder / "again.o",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
