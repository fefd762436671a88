"""Choose tile sizes: the defaults of the emitted factory's keyword parameters."""

from __future__ import annotations

from dataclasses import dataclass

from hipify_tile.ir.types import ScalarType


@dataclass(frozen=True, slots=True)
class GemmTiles:
    """Tile of the output (``block_m`` × ``block_n``), depth of a step, threads a block, stages."""

    block_m: int
    block_n: int
    block_k: int
    threads: int
    stages: int


def gemm_tiles(dtype: ScalarType) -> GemmTiles:
    """Tiles of a contraction in ``dtype``: both operand tiles and the sum fit on chip."""
    if dtype.bits == 64:
        return GemmTiles(64, 64, 16, threads=128, stages=2)
    return GemmTiles(64, 64, 32, threads=128, stages=2)


def elementwise_tiles(rank: int) -> tuple[int, ...]:
    """Tile extents, outermost first: rows stay long so that accesses coalesce; 1024 points."""
    return (1,) * max(rank - 2, 0) + {1: (1024,), 2: (4, 256)}.get(min(rank, 2), ())


ELEMENTWISE_THREADS = 256
