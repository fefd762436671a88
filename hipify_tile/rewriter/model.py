"""What the rewriter hands on: emitted TileLang of one kernel at one level, and how to call it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.ir.expr import Expr


class Level(StrEnum):
    """Rungs of the ladder, highest first."""

    TILE = "tile"
    LOOP = "loop"
    SIMT = "simt"


class Target(StrEnum):
    """TileLang targets of the report's matrix."""

    CUDA = "cuda"
    HIP = "hip"
    METAL = "metal"
    WEBGPU = "webgpu"
    CPU = "cpu"
    ASCEND = "ascend"


class ArgumentRole(StrEnum):
    """What a parameter of the emitted prim_func stands for."""

    BUFFER = "buffer"  # storage of a pointer parameter
    GLOBAL = "global"  # storage of a __device__/__constant__ variable
    SCALAR = "scalar"  # a scalar leaf of the CUDA parameters
    GRID = "grid"  # gridDim.<axis>
    BLOCK = "block"  # blockDim.<axis>


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of the prim_func, found by ``name`` in the lowered function.

    ``source`` is the ``simt.Param`` name (BUFFER, SCALAR), the buffer's qualified symbol (GLOBAL)
    or empty; ``axis`` is for GRID and BLOCK. ``extents`` are, for a buffer with a symbolic shape,
    the names of its symbolic dimensions, which the lowered function may also take as parameters;
    ``shape`` gives each as an expression over scalar leaf names, or None for the buffer's element
    count.
    """

    name: str
    role: ArgumentRole
    dtype: str
    source: str = ""
    axis: int = 0
    extents: tuple[str, ...] = ()
    shape: tuple[Expr | None, ...] = ()
    written: bool = False


@dataclass(frozen=True, slots=True)
class Emission:
    """Emitted TileLang of one kernel instance at one level.

    ``source`` is the complete text of a stand-alone Python module that defines ``factory``; calling
    ``factory(**options)`` returns the prim_func. ``options`` names the factory's keyword
    parameters: ``block`` (three ints, present where the level needs blockDim at compile time),
    ``shared_bytes`` (dynamic shared memory), ``target`` ("c", "cuda", "hip", …). ``definition`` is
    the factory's text alone and ``prelude`` the module-level lines it needs, from which
    ``emit/module.py`` composes a file of several kernels. ``assumes`` are launch conditions (see
    ``tile.Program``). ``ragged`` says that tiles overhang their tensors: lowering must guard
    accesses (a load beyond the shape gives zero, a store does nothing). ``tolerance`` names why
    results may differ in rounding, else "".
    """

    level: Level
    factory: str
    source: str
    prelude: tuple[str, ...]
    definition: str
    options: tuple[str, ...]
    arguments: tuple[Argument, ...]
    targets: tuple[Target, ...]
    assumes: tuple[Expr, ...] = ()
    ragged: bool = False
    tolerance: str = ""
    reduction_terms: Expr | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelResult:
    """The outcome of trying a level: an emission, or the diagnostics that say why not."""

    level: Level
    emission: Emission | None
    diagnostics: tuple[Diagnostic, ...] = ()
