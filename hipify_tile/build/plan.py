"""What a build is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hipify_tile.analyzer.model import UnitAnalysis
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.rewriter.model import Emission


@dataclass(frozen=True, slots=True)
class Plan:
    """What to build.

    ``emissions`` maps kernels, by the path of their unit and mangled name, to the verified emissions
    that become objects, ``reasons`` the others to why they stay. ``host_sources`` are further C and C++ files. ``runtime`` is
    the folder of ``libtm_cudart.so``; ``flags`` go to every g++ command. ``output`` ending in
    ``.a`` is a static library, in ``.o`` an object, ``-shared`` in ``flags`` makes a shared one.
    With ``trials`` an object is executed against the original before it goes into the program.
    """

    analyses: Sequence[UnitAnalysis]
    emissions: Mapping[tuple[str, str], Sequence[Emission]]
    output: Path
    folder: Path
    runtime: Path
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    host_sources: Sequence[Path] = ()
    flags: tuple[str, ...] = ()
    cxx: str = "g++"
    kernels_only: bool = False
    trials: bool = True


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A kernel in the executable: the levels it has beside its kept code, and why not more."""

    id: str
    mangled: str
    levels: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome; ``output`` is None where ``diagnostics`` hold an error."""

    output: Path | None
    kernels: tuple[BuiltKernel, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
