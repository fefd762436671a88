"""``loop.Nest``: what the whole grid computes.

The block and thread indices have become axes. ``grid`` and ``block`` are the axes of the launch:
their extents are the launch parameters, or constants where every launch fixes them. ``body`` is
what one block does: ``Loop`` nests over the ``block`` axes (regions between barriers), uniform
control flow around them, and named operations. A raised nest (``raised`` is true) has its own
parallel axes in ``body`` and empty ``block``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hipify_tile.ir.expr import Expr, Var
from hipify_tile.ir.simt import Buffer, Param
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Axis, Stmt
from hipify_tile.ir.types import ScalarType


@dataclass(frozen=True, slots=True)
class Nest:
    """A grid's computation; fields shared with ``simt.Kernel`` mean the same.

    ``locals`` are per-thread scalars (private to one iteration of a thread ``Loop``);
    ``block_locals`` are uniform scalars that live across regions (one a block).
    A raised nest reads gridDim and blockDim as the scalars ``launch`` (``grid_x`` …);
    ``assumes`` are conditions on them and on scalar parameters under which the nest computes what
    the kernel computes.
    """

    name: str
    mangled: str
    params: tuple[Param, ...]
    argument_sizes: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    locals: tuple[tuple[str, ScalarType], ...]
    block_locals: tuple[tuple[str, ScalarType], ...]
    grid: tuple[Axis, ...]
    block: tuple[Axis, ...]
    body: tuple[Stmt, ...]
    raised: bool = False
    launch: tuple[Var, ...] = ()
    assumes: tuple[Expr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
