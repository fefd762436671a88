"""The runtime library of programs: memory, order, errors, launches, variables and graphs."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.compat import include_dir, library_path, runtime_source_dir

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
PARTS = ("memory", "streams", "errors", "launches", "symbols", "sticky", "graphs")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the test program, linked with the library."""
    library = library_path("cudart")
    built = tmp_path_factory.mktemp("cudart") / "cudart"
    source = Path(__file__).parent / "programs" / "cudart.cpp"
    command = ["g++", "-std=c++17", "-O1", "-w", "-fno-strict-aliasing", f"-I{include_dir()}"]
    command += [str(source), "-o", str(built), f"-L{library.parent}", "-ltm_cudart"]
    subprocess.run([*command, f"-Wl,-rpath,{library.parent}"], check=True)
    return built


@pytest.mark.parametrize("part", PARTS)
def test_programs_get_what_cuda_promises(part: str, program: Path) -> None:
    ran = subprocess.run([program, part], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr


def test_every_name_of_the_library_resolves() -> None:
    text = (runtime_source_dir() / "cudart" / "names.inc").read_text(encoding="utf-8")
    names = re.findall(r"^TM_API_NAME\((\w+)\)$", text, re.MULTILINE)
    library = ctypes.CDLL(str(library_path("cudart")))
    assert len(names) > 400
    assert [name for name in names if not hasattr(library, name)] == []
