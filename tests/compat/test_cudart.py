"""The runtime library of programs: memory, order, errors, launches, variables and graphs."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.compat import include_dir, library_path, runtime_source_dir

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
PARTS = ("memory", "streams", "errors", "launches", "symbols", "sticky", "graphs")


BEHAVIOUR = ("output", "devices", "twins", "ipc", "errors", "callbacks")
PRINTED = "".join(f"kernel {i}\nhost {i}\n" for i in range(1, 5))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the test program, linked with the library."""
    return linked("cudart", tmp_path_factory.mktemp("cudart"))


@pytest.fixture(scope="module")
def behaviour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked("behaviour", tmp_path_factory.mktemp("behaviour"))


def linked(name: str, folder: Path) -> Path:
    library = library_path("cudart")
    built = folder / name
    source = Path(__file__).parent / "programs" / f"{name}.cpp"
    command = ["g++", "-std=c++17", "-O1", "-w", "-fno-strict-aliasing", f"-I{include_dir()}"]
    command += [str(source), "-o", str(built), f"-L{library.parent}", "-ltm_cudart"]
    subprocess.run([*command, f"-Wl,-rpath,{library.parent}"], check=True)
    return built


@pytest.mark.parametrize("part", PARTS)
def test_programs_get_what_cuda_promises(part: str, program: Path) -> None:
    ran = subprocess.run([program, part], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("synchronous", ("0", "1"))
@pytest.mark.parametrize("part", BEHAVIOUR)
def test_programs_notice_what_cuda_shows(part: str, synchronous: str, behaviour: Path) -> None:
    ran = subprocess.run(
        [behaviour, part],
        env={**os.environ, "TILE_MIGRATE_SYNC": synchronous, "TILE_MIGRATE_DEVICES": "3"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == (PRINTED if part == "output" else "")


def test_every_name_of_the_library_resolves() -> None:
    text = (runtime_source_dir() / "cudart" / "names.inc").read_text(encoding="utf-8")
    names = re.findall(r"^TM_API_NAME\((\w+)\)$", text, re.MULTILINE)
    library = ctypes.CDLL(str(library_path("cudart")))
    assert len(names) > 400
    assert [name for name in names if not hasattr(library, name)] == []
