"""Builds of the program runtime's engine and launch seam, and of test programs against them."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from hipify_tile.compat import include_dir, runtime_source_dir

SCHEDULER = ("scheduler.cpp", "warp.cpp", "fiber.cpp", "divide.cpp")
PROGRAMS = Path(__file__).parent.parent / "compat" / "programs"


def sources() -> list[Path]:
    """Return the sources of engine and launch seam: what needs no cudart."""
    root = runtime_source_dir()
    parts = [*(root / "engine").glob("*.cpp"), *(root / "launch").glob("*.cpp")]
    return [*(root / name for name in SCHEDULER), *sorted(parts)]


def build_objects(
    folder: Path, flags: tuple[str, ...] = ("-O2",), chosen: list[Path] | None = None
) -> list[Path]:
    """Compile ``chosen``, by default ``sources()``; raises CalledProcessError with the reason."""
    folder.mkdir(parents=True, exist_ok=True)
    compile_one = partial(_compile, folder=folder, flags=flags)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(compile_one, sources() if chosen is None else chosen))


def _compile(source: Path, folder: Path, flags: tuple[str, ...]) -> Path:
    target = folder / f"{source.parent.name}-{source.stem}.o"
    command = ["g++", "-std=c++17", *flags, "-Wall", "-Wextra", "-Werror", "-fPIC"]
    command += ["-fvisibility=hidden", f"-I{include_dir()}", f"-I{runtime_source_dir()}"]
    command += ["-c", str(source), "-o", str(target)]
    subprocess.run(command, check=True, text=True)
    return target


def build_program(
    name: str,
    objects: list[Path],
    folder: Path,
    flags: tuple[str, ...] = ("-O2",),
    compile_flags: tuple[str, ...] = (),
) -> Path:
    """Compile ``tests/compat/programs/<name>.cpp`` and link it with ``objects``.

    ``compile_flags`` are for the compiler alone, not for the link.
    """
    target, unit = folder / name, folder / f"{name}.o"
    command = ["g++", "-std=c++17", *flags, *compile_flags, "-w", "-ffp-contract=off"]
    command += ["-fno-strict-aliasing", f"-I{include_dir()}", f"-I{runtime_source_dir()}"]
    command += ["-c", str(PROGRAMS / f"{name}.cpp"), "-o", str(unit)]
    subprocess.run(command, check=True, text=True)
    command = ["g++", *flags, str(unit), *map(str, objects), "-o", str(target), "-pthread"]
    subprocess.run(command, check=True, text=True)
    return target
