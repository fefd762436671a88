"""``tile.Program``: how a block computes its part of a nest, in tile operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hipify_tile.ir.expr import Expr, Var
from hipify_tile.ir.simt import Param
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Axis, Stmt
from hipify_tile.ir.types import ScalarType


class TileScope(StrEnum):
    """Where a tile lives."""

    SHARED = "shared"
    FRAGMENT = "fragment"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Tensor:
    """A kernel argument with a symbolic row-major shape.

    ``strides`` (elements, one a dimension) are given where rows are further apart than their width.
    ``storage`` is the pointer parameter behind it, or ``symbol`` the variable of the source.
    """

    name: str
    dtype: ScalarType
    shape: tuple[Expr, ...]
    written: bool
    strides: tuple[Expr, ...] = ()
    storage: str = ""
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Alloc:
    """An on-chip tile; its shape is fixed at compile time (constants and tunables)."""

    name: str
    dtype: ScalarType
    shape: tuple[Expr, ...]
    scope: TileScope


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangular part of a tensor or tile that starts at ``origin``."""

    buffer: str
    origin: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """``dst ← src``: the tile's shape says how much; elements beyond the tensor read as zero."""

    src: Region
    dst: Region


@dataclass(frozen=True, slots=True)
class Fill:
    """Set every element of a tile."""

    buffer: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Gemm:
    """``c += op(a) · op(b)`` on tiles."""

    a: str
    b: str
    c: str
    transpose_a: bool = False
    transpose_b: bool = False


@dataclass(frozen=True, slots=True)
class Elementwise:
    """``body`` for every point of the static ``axes`` (``T.Parallel``).

    ``points`` names the global coordinate of each axis as an expression:
    ``i = bx * tile_x + i_in``.
    """

    axes: tuple[Axis, ...]
    body: tuple[Stmt, ...]
    points: tuple[tuple[Var, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Serial:
    """A sequential loop over ``axis`` around tile operations; ``stages`` > 1 pipelines it."""

    axis: Axis
    body: tuple[TileOp, ...]
    stages: int = 1


TileOp = Copy | Fill | Gemm | Elementwise | Serial


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel: a grid of blocks, each running ``body`` with ``threads`` threads.

    ``grid`` are the block axes with their extents (outermost last, as ``T.Kernel`` takes them:
    x first). ``tunables`` are compile-time integers with their defaults (tile sizes),
    ``definitions`` name expressions over parameters and launch symbols. ``assumes`` are conditions
    on launch and parameters under which the program equals its nest; a caller that cannot
    establish them must use a lower level.
    """

    name: str
    mangled: str
    params: tuple[Param, ...]
    argument_sizes: tuple[int, ...]
    tensors: tuple[Tensor, ...]
    grid: tuple[Axis, ...]
    threads: int
    tunables: tuple[tuple[str, int], ...]
    definitions: tuple[tuple[Var, Expr], ...]
    locals: tuple[tuple[str, ScalarType], ...]
    allocs: tuple[Alloc, ...]
    body: tuple[TileOp, ...]
    assumes: tuple[Expr, ...] = ()
    launch: tuple[Var, ...] = ()
    reassociates: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
