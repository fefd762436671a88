"""The CMake package and the make fragment: libraries, programs, what a header rebuilds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built_programs import SAMPLES, needs_gxx, run
from tool import migrate

pytestmark = [
    needs_gxx(),
    pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake"),
]

KERNEL = """
#include "{name}.cuh"
#include "{name}.h"
__global__ void {name}_kernel(float *x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = {name}_value(x[i]);
}}
void {name}(float *x, int n) {{ {name}_kernel<<<(n + 127) / 128, 128>>>(x, n); }}
"""
MAIN = """
#include <cstdio>
#include <cuda_runtime.h>
#include "scale.h"
#include "shift.h"
int main() {
    float host[300], *x;
    for (int i = 0; i < 300; ++i) host[i] = i;
    if (cudaMalloc(&x, sizeof host)) return 2;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    scale(x, 300);
    shift(x, 300);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g\\n", host[299]);
    return cudaDeviceSynchronize();
}
"""
FILES = {
    "scale.cu": KERNEL.format(name="scale"),
    "scale.h": "void scale(float *, int);\n",
    "scale.cuh": "__device__ inline float scale_value(float x) { return x * FACTOR; }\n",
    "shift.cu": KERNEL.format(name="shift"),
    "shift.h": "void shift(float *, int);\n",
    "shift.cuh": "__device__ inline float shift_value(float x) { return x + 1; }\n",
    "main.cpp": MAIN,
}
CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(both LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(HipifyTile REQUIRED)
add_library(scale STATIC scale.cu)
target_compile_definitions(scale PRIVATE FACTOR=2)
tile_migrate_target(scale KERNELS scale.cu MODE kept)
add_library(shift SHARED shift.cu)
tile_migrate_target(shift KERNELS shift.cu MODE kept)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE scale shift)
"""
MAKE = """
include $(DIR)/tile_migrate.mk
TILE_MIGRATE_FLAGS = --mode kept -q
TILE_MIGRATE_CXXFLAGS = -DFACTOR=2
app: main.o kernels.a
\t$(CXX) $^ -o $@ $(TILE_MIGRATE_LIBS)
main.o: main.cpp scale.h shift.h
\t$(CXX) $(TILE_MIGRATE_CPPFLAGS) -c $< -o $@
$(call tile_migrate,kernels.a,scale.cu shift.cu)
"""


def _project(folder: Path, **more: str) -> tuple[Path, Path]:
    """Write the files; return the command as a program, and the package's folder."""
    for name, text in {**FILES, **more}.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = folder / "tile-migrate"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hipify_tile "$@"\n')
    command.chmod(0o755)
    found = migrate("cmake-dir", cwd=folder)
    return command, Path(found.stdout.strip())


def _call(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _edit(path: Path, old: str, new: str) -> None:
    """Change a file."""
    text = path.read_text()
    assert old in text
    before = path.stat().st_mtime_ns
    path.write_text(text.replace(old, new))
    assert path.stat().st_mtime_ns > before


def test_cmake_builds_again_what_a_header_changes_and_nothing_else(tmp_path: Path) -> None:
    command, package = _project(tmp_path, **{"CMakeLists.txt": CMAKE})
    generator = ("-G", "Ninja") if shutil.which("ninja") else ()
    settings = (f"-DHipifyTile_DIR={package}", f"-DTILE_MIGRATE={command}")
    _call("cmake", *generator, "-S", ".", "-B", "b", *settings, cwd=tmp_path)
    build = ("cmake", "--build", "b")
    _call(*build, cwd=tmp_path)
    app = tmp_path / "b" / "app"
    assert run(app, tmp_path).out == "599\n"
    assert "tile-migrate: kernels" not in _call(*build, cwd=tmp_path)
    _edit(tmp_path / "scale.cuh", "x * FACTOR", "x * FACTOR + 10")
    again = _call(*build, cwd=tmp_path)
    assert "kernels of scale" in again and "kernels of shift" not in again
    assert run(app, tmp_path).out == "609\n"
    assert "tile-migrate: kernels" not in _call(*build, cwd=tmp_path)


def test_cmake_says_what_is_wrong(tmp_path: Path) -> None:
    wrong = CMAKE.replace("MODE kept", "MODE fast", 1)
    command, package = _project(tmp_path, **{"CMakeLists.txt": wrong})
    words = ["cmake", "-S", ".", "-B", "b", f"-DHipifyTile_DIR={package}"]
    for setting, said in (
        (f"-DTILE_MIGRATE={command}", "MODE is migrated or kept, not fast"),
        ("-DTILE_MIGRATE=/bin/false", "HipifyTile"),
    ):
        shutil.rmtree(tmp_path / "b", ignore_errors=True)
        done = subprocess.run(
            [*words, setting], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode and said in done.stderr


def test_make_builds_again_what_a_header_changes(tmp_path: Path) -> None:
    command, package = _project(tmp_path, Makefile=MAKE)
    make = ("make", f"DIR={package}", f"TILE_MIGRATE={command}", "app")
    _call(*make, cwd=tmp_path)
    assert run(tmp_path / "app", tmp_path).out == "599\n"
    assert "up to date" in _call(*make, cwd=tmp_path)
    _edit(tmp_path / "shift.cuh", "x + 1", "x + 2")
    assert "build scale.cu shift.cu -o kernels.a" in _call(*make, cwd=tmp_path)
    assert run(tmp_path / "app", tmp_path).out == "600\n"
    (tmp_path / "shift.cuh").rename(tmp_path / "other.cuh")
    _edit(tmp_path / "shift.cu", "shift.cuh", "other.cuh")
    _call(*make, cwd=tmp_path)  # a header that is gone is no error
    assert run(tmp_path / "app", tmp_path).out == "600\n"


PIPELINE = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.22)
project(image_pipeline LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(HipifyTile REQUIRED)
add_subdirectory(filters)
add_subdirectory(equalise)
add_executable(image_pipeline app/main.cpp app/reference.cpp)
target_link_libraries(image_pipeline PRIVATE filters equalise)
""",
    "filters/CMakeLists.txt": """
add_library(filters STATIC blur.cu gradient.cu)
target_include_directories(filters PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
tile_migrate_target(filters KERNELS blur.cu gradient.cu)
""",
    "equalise/CMakeLists.txt": """
add_library(equalise SHARED equalise.cu volume.cu)
target_include_directories(equalise PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}
                           PRIVATE ${CMAKE_SOURCE_DIR}/filters)
tile_migrate_target(equalise KERNELS equalise.cu volume.cu OPTIONS --keep make_levels)
""",
}


def test_a_project_with_a_static_and_a_shared_library(tmp_path: Path) -> None:
    """Templates of one header are in both libraries; each mode gives the same result."""
    source = tmp_path / "src"
    shutil.copytree(SAMPLES / "04_image_pipeline", source)
    for name, text in PIPELINE.items():
        (source / name).write_text(text, encoding="utf-8")
    command, package = _project(tmp_path)
    settings = (f"-DHipifyTile_DIR={package}", f"-DTILE_MIGRATE={command}")
    _call("cmake", "-S", source, "-B", "b", *settings, cwd=tmp_path)
    _call("cmake", "--build", "b", cwd=tmp_path)
    app = tmp_path / "b" / "image_pipeline"
    results = {mode: run(app, tmp_path, MODE=mode) for mode in ("kept", "migrated", "check")}
    assert {r.status for r in results.values()} == {0}
    assert len({r.out for r in results.values()}) == 1
    kinds = {kind for e in results["migrated"].events for kind in e.get("ran", ())}
    assert kinds > {"kept"}, "both kinds run in one program"
