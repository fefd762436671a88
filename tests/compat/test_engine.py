"""The program runtime's engine: one compiled program, a case a run, also under sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from runtime_objects import build_objects, build_program

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

CASES = (
    *("indices", "barriers", "lanes", "division", "faults", "handlers", "grids", "output"),
    *("atomics", "threads", "ranges", "forks", "ended_threads"),
)
THREAD_FLAGS = ("-O1", "-g", "-fsanitize=thread", "-DSMALL")
ADDRESS_FLAGS = ("-O1", "-g", "-fsanitize=address", "-DSMALL")


def run_case(program: Path, case: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TILE_MIGRATE_THREADS": "4", **environment}
    return subprocess.run(
        [str(program), case], env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def program(engine_objects: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program("engine", engine_objects, tmp_path_factory.mktemp("engine"))


@pytest.mark.parametrize("case", CASES)
def test_case(program: Path, case: str) -> None:
    result = run_case(program, case)
    assert result.returncode == 0, result.stderr
    if case == "faults":
        assert result.stderr.count("a kernel uses curand_init, which does not execute here") == 1


@pytest.mark.parametrize("case", ["barriers", "atomics", "grids", "faults"])
def test_one_os_thread_gives_the_same(program: Path, case: str) -> None:
    result = run_case(program, case, TILE_MIGRATE_THREADS="1")
    assert result.returncode == 0, result.stderr


def test_printed_text_waits_for_the_host_and_keeps_its_order(program: Path) -> None:
    lines = run_case(program, "output").stdout.splitlines()
    device = [f"block 0 thread {i} of many" for i in range(3)]
    assert lines == [
        *("host before synchronisation", *device, "plain", "1%", "host after"),
        device[0],
    ]


def test_messages_name_kernel_block_and_thread(program: Path) -> None:
    text = run_case(program, "faults").stderr
    assert (
        "void asserted(int): block: [0,0,0], thread: [5,0,0] Assertion `threadIdx.x < n` failed."
        in text
    )
    assert "test: block (0,0,0), thread (0,0,0): threads wait at different barriers" in text
    assert "dynamic parallelism is not supported" in text
    assert "local memory of a thread exhausted" in text


@pytest.mark.slow
def test_clean_under_thread_sanitizer(tmp_path: Path) -> None:
    program = build_program(
        "engine", build_objects(tmp_path / "o", THREAD_FLAGS), tmp_path, THREAD_FLAGS
    )
    for case in (
        "indices",
        "barriers",
        "atomics",
        "faults",
        "grids",
        "threads",
        "ranges",
        "output",
    ):
        result = run_case(program, case, TSAN_OPTIONS="halt_on_error=0")
        assert result.returncode == 0, (case, result.stderr)
        assert "WARNING: ThreadSanitizer" not in result.stderr, (case, result.stderr)


@pytest.mark.slow
def test_clean_under_address_sanitizer(tmp_path: Path) -> None:
    program = build_program(
        "engine", build_objects(tmp_path / "o", ADDRESS_FLAGS), tmp_path, ADDRESS_FLAGS
    )
    for case in (
        "indices",
        "barriers",
        "lanes",
        "faults",
        "grids",
        "threads",
        "forks",
        "ended_threads",
    ):
        result = run_case(program, case)
        assert result.returncode == 0, (case, result.stderr)
        assert "ERROR: AddressSanitizer" not in result.stderr, (case, result.stderr)
        assert "LeakSanitizer" not in result.stderr, (case, result.stderr)
