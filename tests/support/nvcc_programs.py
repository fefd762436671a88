"""Programs whose host side nvcc makes of unmodified sources, on this project's runtime."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.compat import library_path

# Either the shared runtime, or an unmodified command and a folder in front of nvcc's own.
WAYS = {"shared": ("-cudart", "shared"), "static": ()}
SUFFIXES = (".cu", ".cpp")
RELOCATABLE = {"03_pagerank", "26_symbols_across_files"}


def sources(program: Path) -> list[Path]:
    """Return what nvcc compiles of a folder, or of a file."""
    if program.is_file():
        return [program]
    return sorted(path for path in program.rglob("*") if path.suffix in SUFFIXES)


def compile_with_nvcc(
    program: Path, app: Path, way: str, *more: str, includes: tuple[str, ...] = ()
) -> None:
    """Make ``app``; ``more`` are objects and options of the link."""
    flags = [f"-I{program / name[2:]}" for name in includes]
    flags += ["-rdc=true"] if program.name in RELOCATABLE else []
    command = ["nvcc", "-std=c++17", "-arch=sm_80", "--extended-lambda", "-w", *WAYS[way], *flags]
    command += [*map(str, sources(program)), *more, "-o", str(app)]
    command.append(f"-L{library_path('cudart').parent}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


def library_switches(way: str) -> dict[str, str]:
    """Return what the loader needs to find the shared runtime."""
    return {"LD_LIBRARY_PATH": str(library_path("cudart").parent)} if way == "shared" else {}


def needs_nvcc() -> pytest.MarkDecorator:
    """Skip where there is no nvcc."""
    return pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


def run_plain(app: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``app`` with exactly this environment beside PATH."""
    return subprocess.run(
        [str(app)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
