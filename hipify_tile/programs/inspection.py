"""Why a program does or does not run on our CUDA runtime: facts of its files → findings.

Nothing is run. Libraries that the program opens by name while it runs are not seen.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hipify_tile.programs import elf
from hipify_tile.programs.preload import VENDOR, is_ours

_KNOWN_NODES = ("libcudart.so.12", "libcudart.so.13")
_RUNTIME = re.compile(r"libcudart\.so")


class State(StrEnum):
    """What a finding means for running the program on a CPU."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact with what to do about it."""

    name: str
    state: State
    found: str
    todo: str = ""


def inspect(
    program: Path, environment: Mapping[str, str], system: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """Return the findings; ``system`` stands for the linker's cache.

    Raises NotElfError, OSError.
    """
    binary = elf.read(program)
    cache = dict(elf.system_libraries() if system is None else system)
    libraries = elf.closure(binary, dict(environment), cache)
    found = [_kind(binary)]
    found += _runtime(binary, libraries, dict(environment), cache)
    found += _versions(binary, libraries, dict(environment), cache)
    found += _kernels(binary, libraries)
    found += _others(libraries)
    return tuple(found)


def _kind(binary: elf.Binary) -> Finding:
    if binary.machine != "x64":
        return Finding("program", State.PROBLEM, f"for {binary.machine}", "build it for x86-64")
    if not binary.dynamic:
        todo = "link it dynamically: nothing can be put in front of its libraries"
        return Finding("program", State.PROBLEM, "statically linked", todo)
    return Finding("program", State.OK, "x86-64, dynamically linked")


def _runtime(
    binary: elf.Binary,
    libraries: dict[str, elf.Binary | None],
    environment: dict[str, str],
    system: dict[str, str],
) -> Iterator[Finding]:
    ours = [name for name, library in libraries.items() if is_ours(name, library)]
    theirs = [n for n in libraries if _RUNTIME.match(n) and n not in ours]
    holders = [binary.path.name] if binary.static_runtime else []
    holders += [n for n, lib in libraries.items() if lib is not None and lib.static_runtime]
    for holder in holders:
        yield Finding(
            "cudart",
            State.PROBLEM,
            f"{holder} has a static CUDA runtime: its calls cannot be served",
            "link it again with nvcc -cudart shared",
        )
    if binary.our_runtime:
        yield Finding("cudart", State.OK, "ours, linked statically")
    elif not (ours or theirs or holders):
        yield Finding("cudart", State.NOTE, "no CUDA runtime is linked")
        return
    if ours:
        yield Finding("cudart", State.OK, f"ours, as {ours[0].rpartition('/')[2]}")
    for name in theirs:
        place = elf.locate(name, binary, environment, system)
        place = place or _located(name, libraries, environment, system)
        if place is None:
            found = f"{name} is not found"
            yield Finding("cudart", State.NOTE, found, "tile-migrate run gives it ours")
        elif ours:
            yield _order(name, ours[0], list(libraries))
        else:
            yield Finding(
                "cudart", State.OK, f"{name}, in {place[0]}", "start it: tile-migrate run"
            )
        if place is not None and place[1] == "RPATH":
            yield Finding(
                "rpath",
                State.NOTE,
                f"{name} is found by RPATH, before LD_LIBRARY_PATH",
                "start it by tile-migrate run, or link it with -Wl,--enable-new-dtags",
            )
    if len(theirs) > 1:
        users = (f"{n} ({', '.join(_users(n, binary, libraries))})" for n in theirs)
        yield Finding(
            "cudart",
            State.PROBLEM,
            f"two CUDA runtimes: {' and '.join(users)}",
            "build all parts with one version of the toolkit",
        )


def _order(theirs: str, ours: str, order: list[str]) -> Finding:
    """The linker takes a symbol from the first library that has it, breadth first."""
    if order.index(ours) < order.index(theirs):
        return Finding("order", State.OK, f"{ours} comes before {theirs}")
    return Finding(
        "order",
        State.PROBLEM,
        f"{theirs} comes before {ours}: the program's calls go there",
        "put -ltm_cudart first on the link line, or start it by tile-migrate run",
    )


def _versions(
    binary: elf.Binary,
    libraries: dict[str, elf.Binary | None],
    environment: dict[str, str],
    system: dict[str, str],
) -> Iterator[Finding]:
    files = [binary, *(lib for lib in libraries.values() if lib is not None)]
    for file in files:
        for library, nodes in file.versions:
            if not _RUNTIME.match(library):
                continue
            for node in nodes:
                if node not in _KNOWN_NODES:
                    yield Finding(
                        "version",
                        State.PROBLEM,
                        f"{file.path.name} asks for {node}",
                        "build it with CUDA 12 or 13: other versions are not served",
                    )
            target = libraries.get(library)
            lacking = [n for n in nodes if target and target.nodes and n not in target.nodes]
            if target is not None and lacking:
                yield Finding(
                    "version",
                    State.PROBLEM,
                    f"{file.path.name} asks for {lacking[0]}, {target.path} has "
                    f"{', '.join(target.nodes)}: it does not start",
                    "let it find the library of its own version (LD_LIBRARY_PATH, RUNPATH)",
                )


def _kernels(binary: elf.Binary, libraries: dict[str, elf.Binary | None]) -> Iterator[Finding]:
    files = [binary, *(lib for lib in libraries.values() if lib is not None)]
    wanted = {name for f in files if f.device_code for name in f.mangled}
    runnable = [f for f in files if not f.device_code and "tm_register_kernel" in f.undefined]
    known = {name for f in runnable for name in f.mangled}
    if not any(f.device_code for f in files):
        if known:
            yield Finding("kernels", State.OK, f"{len(known)} can run on a CPU")
        return
    missing = sorted(wanted - known)
    if not missing:
        yield Finding("kernels", State.OK, f"all {len(wanted)} have code for the CPU too")
        return
    shown = ", ".join(demangled(missing)[:3]) + (", …" if len(missing) > 3 else "")
    yield Finding(
        "kernels",
        State.PROBLEM,
        f"{len(missing)} of {len(wanted)} are code for GPUs only: {shown}",
        "tile-migrate build SRC -o libkernels.so -- -shared; run --preload ./libkernels.so",
    )


def _others(libraries: dict[str, elf.Binary | None]) -> Iterator[Finding]:
    for name, library in libraries.items():
        if name.startswith("libcuda.so"):
            todo = "calls of the driver interface (cu…) are not served"
            yield Finding("driver", State.PROBLEM, f"{name} is linked", todo)
        elif name.startswith(VENDOR):
            there = "not served" if library else "not served, and not found"
            yield Finding("library", State.NOTE, f"{name}: {there}")
        elif library is None and not _RUNTIME.match(name) and not is_ours(name, None):
            yield Finding("library", State.PROBLEM, f"{name} is not found", "set LD_LIBRARY_PATH")


def _located(
    name: str,
    libraries: dict[str, elf.Binary | None],
    environment: dict[str, str],
    system: dict[str, str],
) -> tuple[str, str] | None:
    users = (lib for lib in libraries.values() if lib is not None and name in lib.needed)
    places = (elf.locate(name, user, environment, system) for user in users)
    return next((place for place in places if place), None)


def _users(
    name: str, binary: elf.Binary, libraries: dict[str, elf.Binary | None]
) -> tuple[str, ...]:
    files = [binary, *(lib for lib in libraries.values() if lib is not None)]
    return tuple(f.path.name for f in files if name in f.needed)


def demangled(names: list[str]) -> list[str]:
    """Return C++ names as written; as they are where ``c++filt`` is missing."""
    try:
        done = subprocess.run(["c++filt", *names[:50]], capture_output=True, text=True, check=False)
    except OSError:
        return names
    shown = done.stdout.splitlines()
    return [name.split("(")[0] or name for name in shown] if len(shown) else names
