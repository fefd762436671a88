"""``tile-migrate doctor APP``: what the files of a program say about its CUDA runtime."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.programs import preload
from hipify_tile.programs.elf import NotElfError, read
from hipify_tile.programs.inspection import Finding, State, inspect

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

CALLS = "int cudaMalloc(void **, unsigned long); int main(void) { return cudaMalloc(0, 0); }\n"
RUNTIME = "int cudaMalloc(void **p, unsigned long n) { return p ? (int)n : 1; }\n"
OURS = RUNTIME + 'const char *tm_word(void) { return "TILE_MIGRATE_MODE"; }\n'


def _gcc(folder: Path, name: str, source: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    command = ["gcc", "-fPIC", "-Wl,--no-as-needed", f"{name}.c", "-o", name, *flags]
    subprocess.run(command, cwd=folder, check=True)
    return folder / name


def _runtime(folder: Path, version: int, node: int | None = None) -> None:
    script = folder / f"node{version}.map"
    script.write_text(f"libcudart.so.{node or version} {{ global: cuda*; local: *; }};\n")
    name = f"libcudart.so.{version}"
    flags = ("-shared", f"-Wl,-soname,{name}", f"-Wl,--version-script={script}")
    _gcc(folder, name, RUNTIME, *flags)


def _found(program: Path, **environment: str) -> dict[str, list[Finding]]:
    rows: dict[str, list[Finding]] = {}
    for finding in inspect(program, environment, {}):
        rows.setdefault(finding.name, []).append(finding)
    return rows


def test_a_shared_runtime_by_rpath_and_by_the_environment(tmp_path: Path) -> None:
    _runtime(tmp_path, 13)
    old = ("-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN")
    app = _gcc(tmp_path, "app", CALLS, "-L.", "-l:libcudart.so.13", *old)
    assert read(app).needed[0] == "libcudart.so.13"
    rows = _found(app)
    assert rows["cudart"][0].state is State.OK
    assert "before LD_LIBRARY_PATH" in rows["rpath"][0].found
    way = preload.choose(app, {})
    assert way.preload and not way.missing
    plain = _gcc(tmp_path, "plain", CALLS, "-L.", "-l:libcudart.so.13")
    assert "not found" in _found(plain)["cudart"][0].found
    assert preload.choose(plain, {"LD_LIBRARY_PATH": str(tmp_path)}).missing == ()
    assert "rpath" not in _found(plain, LD_LIBRARY_PATH=str(tmp_path))


def test_version_nodes(tmp_path: Path) -> None:
    _runtime(tmp_path, 13)
    _runtime(tmp_path, 11)
    flags = ("-L.", "-Wl,-rpath,$ORIGIN")
    app = _gcc(tmp_path, "app", CALLS, "-l:libcudart.so.13", *flags)
    old = _gcc(tmp_path, "old", CALLS, "-l:libcudart.so.11", *flags)
    assert "version" not in _found(app)
    assert "asks for libcudart.so.11" in _found(old)["version"][0].found
    _runtime(tmp_path, 13, node=12)  # a library of another version under the name
    (problem,) = _found(app)["version"]
    assert problem.state is State.PROBLEM and "has libcudart.so.12" in problem.found


def test_two_runtimes_and_their_order(tmp_path: Path) -> None:
    _runtime(tmp_path, 13)
    _runtime(tmp_path, 12)
    _gcc(tmp_path, "libtm_cudart.so", OURS, "-shared")
    flags = ("-L.", "-Wl,-rpath,$ORIGIN")
    names = ("-l:libcudart.so.13", "-ltm_cudart")
    after = _found(_gcc(tmp_path, "after", CALLS, *names, *flags))
    before = _found(_gcc(tmp_path, "before", CALLS, *names[::-1], *flags))
    assert after["order"][0].state is State.PROBLEM
    assert before["order"][0].state is State.OK
    part = RUNTIME.replace("cudaMalloc", "part") + CALLS.replace("main", "more")
    _gcc(tmp_path, "libpart.so", part, "-shared", "-l:libcudart.so.12", *flags)
    app = _gcc(tmp_path, "app", CALLS, "-l:libcudart.so.13", "-l:libpart.so", *flags)
    problems = [f.found for f in _found(app)["cudart"] if f.state is State.PROBLEM]
    assert problems == ["two CUDA runtimes: libcudart.so.13 (app) and libcudart.so.12 (libpart.so)"]


def test_other_libraries_and_other_files(tmp_path: Path) -> None:
    for name in ("libcublas.so.13", "libcuda.so.1", "libmine.so"):
        _gcc(tmp_path, name, "int x;\n", "-shared", f"-Wl,-soname,{name}")
    names = ("-l:libcublas.so.13", "-l:libcuda.so.1", "-lmine", "-L.")
    app = _gcc(tmp_path, "app", "int main(void) { return 0; }\n", *names)
    rows = _found(app)
    assert rows["cudart"][0].found == "no CUDA runtime is linked"
    assert [f.found for f in rows["library"]] == [
        "libcublas.so.13: not served, and not found",
        "libmine.so is not found",
    ]
    assert rows["driver"][0].state is State.PROBLEM
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(NotElfError):
        inspect(script, {})
    assert preload.choose(script, {}).preload
    static = _gcc(tmp_path, "static", "int main(void) { return 0; }\n", "-static")
    assert _found(static)["program"][0].state is State.PROBLEM


CUDA = """
__global__ void scale(float *x) { x[threadIdx.x] *= 2; }
int main() { float *x; cudaMalloc(&x, 128); scale<<<1, 32>>>(x); return cudaDeviceSynchronize(); }
"""


@pytest.mark.nvcc
@pytest.mark.full
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_programs_of_nvcc(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(CUDA)
    rpath = ("-Xlinker", "--disable-new-dtags", "-Xlinker", "-rpath=/somewhere")
    for name, flags in {"static": (), "shared": ("-cudart", "shared", *rpath)}.items():
        subprocess.run(["nvcc", "a.cu", "-o", name, *flags], cwd=tmp_path, check=True)
    subprocess.run(["strip", "-o", "stripped", "static"], cwd=tmp_path, check=True)
    for name in ("static", "stripped"):
        rows = _found(tmp_path / name)
        assert "static CUDA runtime" in rows["cudart"][0].found
        assert "-cudart shared" in rows["cudart"][0].todo
        assert preload.choose(tmp_path / name, {}).warning
    rows = _found(tmp_path / "shared")
    assert rows["kernels"][0].found == "1 of 1 are code for GPUs only: scale"
    assert read(tmp_path / "shared").rpath == ("/somewhere",)
