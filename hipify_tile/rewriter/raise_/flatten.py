"""Flattening of device variables with several dimensions: a parameter is one range of elements.

```
__constant__ int steps[4][2]; … steps[i][j]   →   steps[i * 2 + j]
```

Every use of such a variable is rewritten, with its inner extents, so the rest of the rewriter sees
arrays of one dimension. Shared and local arrays keep their dimensions.
"""

from __future__ import annotations

import math
from dataclasses import replace

from hipify_tile.ir.expr import Binary, BinaryOp, Cast, Const, Expr, Load
from hipify_tile.ir.simt import Kernel, Scope
from hipify_tile.ir.stmt import AtomicRMW, Stmt, Store, map_bodies
from hipify_tile.ir.types import I32, I64
from hipify_tile.rewriter.raise_.launch_axes import map_body


def flatten_globals(kernel: Kernel) -> Kernel:
    """Return ``kernel`` with every device variable of one dimension."""
    shapes = {
        b.name: b.shape for b in kernel.buffers if b.scope is Scope.GLOBAL and len(b.shape) > 1
    }
    if not shapes:
        return kernel

    def load(expr: Expr) -> Expr:
        match expr:
            case Load(buffer=buffer, indices=indices) if buffer in shapes:
                return replace(expr, indices=(_row_major(indices, shapes[buffer]),))
            case _:
                return expr

    def stores(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(store, body))

    def store(stmt: Stmt) -> Stmt:
        match stmt:
            case Store(buffer=buffer) | AtomicRMW(buffer=buffer) if buffer in shapes:
                return replace(stmt, indices=(_row_major(stmt.indices, shapes[buffer]),))
            case _:
                return map_bodies(stmt, stores)

    buffers = tuple(
        replace(b, shape=(math.prod(b.shape),)) if b.name in shapes else b for b in kernel.buffers
    )
    return replace(kernel, buffers=buffers, body=stores(map_body(kernel.body, load)))


def _row_major(indices: tuple[Expr, ...], shape: tuple[int, ...]) -> Expr:
    """Return the linear index, in int32 where all indices are: an array is smaller than that."""
    dtype = I32 if all(i.type == I32 for i in indices) and math.prod(shape) < 2**31 else I64
    wide = [i if i.type == dtype else Cast(i, dtype, i.span) for i in indices]
    linear = wide[0]
    for index, extent in zip(wide[1:], shape[1:], strict=True):
        row = Binary(BinaryOp.MUL, linear, Const(extent, dtype), dtype)
        linear = Binary(BinaryOp.ADD, row, index, dtype)
    return linear
