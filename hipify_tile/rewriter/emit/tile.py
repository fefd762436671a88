"""Print a tile program as a TileLang factory.

::

    def matmul(target="c", block_M=64, block_N=64, block_K=32):
        SMEM, FRAG, PAR = ("local", "local", T.grid) if target == "c" else (…)

        @T.prim_func
        def matmul(A: T.handle, …, M: T.int32, …, grid_x: T.int32, block_x: T.int32):
            rows = T.min(M, grid_y * block_y)
            A_view = T.match_buffer(A, (rows, depth), "float32", strides=(K, 1))
            with T.Kernel(…) as (bx, by): …

The parameters are those of the loop level, so one caller serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hipify_tile.ir.expr import Call, Const, Expr, Var, walk
from hipify_tile.ir.simt import Buffer, Scope
from hipify_tile.ir.stmt import Axis
from hipify_tile.ir.tile import (
    Alloc,
    Copy,
    Elementwise,
    Fill,
    Gemm,
    Program,
    Serial,
    Tensor,
    TileOp,
    TileScope,
)
from hipify_tile.rewriter.emit.expressions import ExpressionPrinter
from hipify_tile.rewriter.model import Argument, ArgumentRole
