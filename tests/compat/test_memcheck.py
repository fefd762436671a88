"""The memory checker: what it reports, with its source line, and what it leaves alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from runtime_objects import PROGRAMS, build_program

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="module")
def program(engine_objects: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The hooks come from the engine's objects, not from the sanitizer's library.
    folder = tmp_path_factory.mktemp("memcheck")
    flags = ("-O1", "-g1", "-gdwarf-4", "--param=tsan-instrument-func-entry-exit=0")
    return build_program("memcheck", engine_objects, folder, flags, ("-fsanitize=thread",))


def run(program: Path, on: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TILE_MIGRATE_MEMCHECK": on}
    return subprocess.run([str(program)], env=env, capture_output=True, text=True, timeout=60)


def line_of(text: str) -> int:
    lines = (PROGRAMS / "memcheck.cpp").read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


def test_errors_are_named_by_kernel_thread_and_line(program: Path) -> None:
    result = run(program, "1")
    reports = re.findall(r"memcheck: (.*)\n  at .*memcheck.cpp:(\d+)", result.stderr)
    said = {int(line): text for text, line in reports}
    out = said[line_of("// out of bounds")]
    assert out.startswith("copy: block (0,0,0), thread ")
    assert "out of bounds: 4-byte write at" in reports[0][0]
    assert "thread (100,0,0)" in reports[0][0]
    assert "0 bytes after an allocation of 400" in reports[0][0]
    assert "thread (1,0,0): misaligned address: 16-byte read" in said[line_of("// misaligned")]
    assert (
        "thread (16,0,0): shared memory that the block has not written: 4-byte read"
        in said[line_of("// uninitialised")]
    )
    assert "0 bytes after dynamic shared memory of 128" in said[line_of("// beyond")]
    assert "add_at: block (0,0,0), thread (0,0,0): out of bounds" in said[line_of("/* atomic */")]
    assert "near no allocation of the device" in reports[-1][0]
    assert len(reports) == 6


def test_launches_fail_as_on_a_gpu_and_right_kernels_run(program: Path) -> None:
    lines = run(program, "1").stdout.splitlines()
    assert lines == [
        *("copy 700", "wide 716", "fixed 0", "dynamic 700", "right 0", "add_at 700", "add_at 0"),
        *("count 129", "copy 700"),
    ]


def test_without_the_switch_nothing_is_checked(program: Path) -> None:
    result = run(program, "0")
    assert result.stderr == ""
    assert "fixed 0" in result.stdout and "right 0" in result.stdout
