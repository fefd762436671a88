"""``tile-migrate doctor``: is everything here that a run needs, and what to do if not.

``tile-migrate doctor APP`` looks at a program instead: whether it can use our CUDA runtime.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import version as installed
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from hipify_tile.cli.cmake_dir import folder as cmake_folder
from hipify_tile.cli.refusal import refuse


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of the doctor. ``needed`` says that a run cannot do without it."""

    name: str
    ok: bool
    found: str
    todo: str = ""
    needed: bool = True


class DoctorFormat(StrEnum):
    """Formats of the findings."""

    TEXT = "text"
    JSON = "json"


def doctor(
    program: Annotated[
        Path | None,
        typer.Argument(help="A program, to see whether it can run.", metavar="APP"),
    ] = None,
    format: Annotated[
        DoctorFormat, typer.Option("--format", help="Format of the output.")
    ] = DoctorFormat.TEXT,
) -> None:
    """Check the installation, or a program, and say what to do."""
    if program is not None:
        rows, failed = _program(program)
        last = "fix the problems" if failed else f"tile-migrate run -- {program}"
    else:
        found = list(checks())
        rows = [(c.name, _mark(c), c.found, "" if c.ok else c.todo) for c in found]
        failed = any(c.needed and not c.ok for c in found)
        last = "fix what is missing" if failed else "tile-migrate PATH"
    if format is DoctorFormat.JSON:
        names = ("name", "state", "found", "todo")
        data = {
            "version": 1,
            "ok": not failed,
            "checks": [dict(zip(names, r, strict=True)) for r in rows],
        }
        typer.echo(json.dumps(data, indent=2))
    else:
        for name, mark, text, todo in rows:
            typer.echo(f"{name:<12} {mark:<8} {text}")
            if todo:
                typer.echo(f"{'':<12} {'':<8} → {todo}")
        typer.echo("")
        typer.echo(f"next         {last}")
    raise typer.Exit(1 if failed else 0)


def _mark(check: Check) -> str:
    return "ok" if check.ok else ("missing" if check.needed else "absent")


def _program(program: Path) -> tuple[list[tuple[str, str, str, str]], bool]:
    """Rows about a program, and whether one of them is a problem."""
    from hipify_tile.programs.elf import NotElfError
    from hipify_tile.programs.inspection import State, inspect

    try:
        found = inspect(program, os.environ)
    except NotElfError as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"{program}: {error.strerror}")
    rows = [(f.name, f.state.value, f.found, f.todo) for f in found]
    return rows, any(f.state is State.PROBLEM for f in found)


def checks() -> Iterator[Check]:
    """Yield every check, cheap ones first."""
    version = sys.version.split()[0]
    yield Check("python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")
    yield _package("tilelang")
    yield _libclang()
    yield _compiler()
    yield _headers()
    nvcc = shutil.which("nvcc")
    todo = "optional: kernels that stay CUDA need it to be built"
    yield Check("nvcc", nvcc is not None, nvcc or "not found", todo, needed=False)
    yield _gpu()
    yield _cache()
    package = cmake_folder()
    todo = "the installation is damaged: reinstall hipify-tile"
    yield Check("cmake", Path(package, "HipifyTileConfig.cmake").is_file(), str(package), todo)


def _package(name: str) -> Check:
    try:
        found = installed(name)
    except PackageNotFoundError:
        return Check(name, False, "not installed", f"pip install '{_pinned(name)}'")
    wanted = _pinned(name).partition("==")[2]
    return Check(
        name,
        not wanted or found == wanted,
        found,
        f"emitted programs are tested with {wanted}: pip install '{_pinned(name)}'",
    )


def _pinned(name: str) -> str:
    try:
        needs = requires("hipify-tile") or []
    except PackageNotFoundError:
        needs = []
    return next((need for need in needs if need.startswith(name)), name)


def _libclang() -> Check:
    check = _package("libclang")
    if not check.ok:
        return check
    from clang import cindex

    try:
        cindex.Index.create()
    except cindex.LibclangError as error:
        return Check("libclang", False, str(error).split("\n")[0], "pip install --force libclang")
    return check


def _compiler() -> Check:
    found = shutil.which(os.environ.get("CXX", "g++"))
    todo = "install g++ (apt-get install g++); without it nothing can be verified"
    if found is None:
        return Check("g++", False, "not found", todo)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "t.cpp")
        source.write_text("#include <cmath>\nint main() { return std::isnan(0.0); }\n")
        built = subprocess.run(
            [found, "-std=c++17", str(source), "-o", str(Path(folder, "t"))],
            capture_output=True,
            text=True,
            check=False,
        )
    if built.returncode:
        return Check("g++", False, f"{found} cannot build C++", f"{todo}; also its libstdc++")
    run = subprocess.run([found, "-dumpfullversion"], capture_output=True, text=True, check=False)
    return Check("g++", True, f"{found} {run.stdout.strip()}")


def _headers() -> Check:
    header = files("hipify_tile.compat").joinpath("include", "cuda_runtime.h")
    todo = "the installation is damaged: reinstall hipify-tile"
    return Check("headers", header.is_file(), "bundled CUDA declarations", todo)


def _gpu() -> Check:
    todo = "optional: without a GPU kernels are verified on the CPU"
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Check("gpu", False, "no nvidia-smi", todo, needed=False)
    run = subprocess.run([tool, "-L"], capture_output=True, text=True, check=False)
    names = [line.split(" (")[0] for line in run.stdout.splitlines() if line.startswith("GPU")]
    return Check("gpu", bool(names), ", ".join(names) or "none visible", todo, needed=False)


def _cache() -> Check:
    from hipify_tile.cache import default_directory

    folder = default_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        todo = "set TILE_MIGRATE_CACHE to a folder that can be written"
        return Check("cache", False, f"{folder}: {error.strerror}", todo, needed=False)
    return Check("cache", True, str(folder))
