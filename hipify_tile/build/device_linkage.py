"""Device functions and variables that several units define are each unit's own, as nvcc makes them.

    a.cu, b.cu: #include "d.cuh"   // __device__ int clamp(int i) { … LIMIT … }
    a.o: T _Z5clampi, b.o: T _Z5clampi   →   a.o: t _Z5clampi, b.o: t _Z5clampi

A device compilation links nothing across units unless it is relocatable, and then a name that two
units define is an error. For a host compiler strong names would clash, and of weak ones all units
would get the first, whatever macros it was made with. Names that one unit defines stay as they are:
relocatable device code may use them elsewhere.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hipify_tile.build.tool import run_tool
from hipify_tile.diagnostics.model import Diagnostic

_DEFINED = frozenset("TtWwDdBbRrVvuS")


def keep_apart(
    units: Sequence[tuple[Path, Sequence[str]]], cxx: str
) -> Diagnostic | None:
    """Make the names that two of ``units`` define local to each; objects are changed in place.

    A unit is its object and the mangled names that only its device code has.
    """
    names = {path: set(own) & _global_names(path) if own else set() for path, own in units}
    for path, shared in _shared(names).items():
        listed, grouped = path.with_suffix(".names"), str(path.with_suffix(".grouped.o"))
        listed.write_text("".join(f"{name}\n" for name in sorted(shared)), encoding="utf-8")
        # Sections of a group would go with another unit's group of the same name.
        command = [cxx, "-r", "-nostdlib", "-Wl,--force-group-allocation", str(path)]
        failure = run_tool([*command, "-o", grouped], str(path))
        words = ["objcopy", f"--localize-symbols={listed}", grouped, str(path)]
        failure = failure or run_tool(words, str(path))
        if failure is not None:
            return failure
    return None


def _shared(names: Mapping[Path, set[str]]) -> dict[Path, set[str]]:
    counts = Counter(name for own in names.values() for name in own)
    several = {name for name, count in counts.items() if count > 1}
    return {path: own & several for path, own in names.items() if own & several}


def _global_names(path: Path) -> set[str]:
    command = ["nm", "--defined-only", "--extern-only", "--format=posix", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = (line.split() for line in done.stdout.splitlines())
    return {row[0] for row in rows if len(row) > 1 and row[1] in _DEFINED}
