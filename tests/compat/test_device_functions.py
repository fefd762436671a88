"""Device functions of our headers, compared with definitions of their own on the host."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.compat import include_dir

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def test_values(tmp_path: Path) -> None:
    program = tmp_path / "device_functions"
    source = Path(__file__).parent / "programs" / "device_functions.cpp"
    flags = ["-std=gnu++17", "-O2", "-Wall", "-ffp-contract=off", "-fwrapv"]
    prelude = [f"-I{include_dir()}", "-include", f"{include_dir()}/tm_cuda_prelude.h"]
    built = subprocess.run(
        ["g++", *flags, *prelude, str(source), "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
