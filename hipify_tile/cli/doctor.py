"""``tile-migrate doctor``: is everything here that a run needs, and what to do if not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import version as installed
from importlib.resources import files
from pathlib import Path

import typer


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of the doctor. ``needed`` says that a run cannot do without it."""

    name: str
    ok: bool
    found: str
    todo: str = ""
    needed: bool = True


def doctor() -> None:
    """Check the installation and say what to do."""
    failed = False
    for check in checks():
        mark = "ok" if check.ok else ("missing" if check.needed else "absent")
        typer.echo(f"{check.name:<12} {mark:<8} {check.found}")
        if not check.ok and check.todo:
            typer.echo(f"{'':<12} {'':<8} → {check.todo}")
        failed = failed or (check.needed and not check.ok)
    typer.echo("")
    typer.echo("next         fix what is missing" if failed else "next         tile-migrate PATH")
    raise typer.Exit(1 if failed else 0)


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
