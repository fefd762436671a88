"""Names of the launch axes, and the replacement of ``threadIdx``/``blockIdx`` by axis variables.

```
threadIdx.x  →  (uint32) tx        0 <= tx < (int32) blockDim.x
blockIdx.x   →  (uint32) bx        0 <= bx < (int32) gridDim.x
```

Axis variables are int32: CUDA bounds both below 2**31. ``blockDim`` and ``gridDim`` stay ``Index``
nodes, for launch symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hipify_tile.ir.expr import Binary, BinaryOp, Cast, Expr, Index, IndexKind, Var, transform
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.stmt import Axis, AxisKind, For, Stmt, map_bodies, map_exprs, walk_stmts
from hipify_tile.ir.types import I32, U32
from hipify_tile.rewriter.names import Namer


@dataclass(frozen=True, slots=True)
class LaunchAxes:
    """Axes outermost first (z, y, x); ``taken`` are all names in use in the kernel."""

    grid: tuple[Axis, ...]
    block: tuple[Axis, ...]
    taken: set[str]

    @property
    def linear_thread(self) -> Expr:
        """``(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x`` in int32."""
        z, y, x = (a.var for a in self.block)
        _, dim_y, dim_x = (a.extent for a in self.block)
        row = Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, z, dim_y, I32), y, I32)
        return Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, row, dim_x, I32), x, I32)

    def bind(self, nest: Nest) -> Nest:
        """Replace thread and block indices by the axis variables."""
        variables = {
            (kind, 2 - position): axis.var
            for kind, axes in ((IndexKind.THREAD, self.block), (IndexKind.BLOCK, self.grid))
            for position, axis in enumerate(axes)
        }

        def index(expr: Expr) -> Expr:
            match expr:
                case Index(kind=kind, axis=axis) if (kind, axis) in variables:
                    return Cast(variables[kind, axis], U32, expr.span)
                case _:
                    return expr

        return replace(nest, body=map_body(nest.body, index))


def launch_axes(kernel: Kernel) -> LaunchAxes:
    """Choose names for the launch axes that the kernel does not use."""
    taken = {name for name, _ in kernel.locals} | {p.name for p in kernel.params}
    taken |= {b.name for b in kernel.buffers}
    taken |= {s.var.name for s in walk_stmts(kernel.body) if isinstance(s, For)}
    namer = Namer(taken | {f"{kind}_{axis}" for kind in ("grid", "block") for axis in "xyz"})

    def axes(dim: IndexKind, short: str, long: str) -> tuple[Axis, ...]:
        out = []
        for axis in (2, 1, 0):
            letter = "xyz"[axis]
            free = f"{short}{letter}" not in taken
            name = namer.fresh(f"{short}{letter}" if free else f"{long}_{letter}")
            extent = Cast(Index(dim, axis, U32), I32)
            out.append(Axis(Var(name, I32), extent, AxisKind.PARALLEL))
        return tuple(out)

    grid = axes(IndexKind.GRID_DIM, "b", "block_idx")
    block = axes(IndexKind.BLOCK_DIM, "t", "thread")
    return LaunchAxes(grid, block, namer.taken)


def map_body(body: tuple[Stmt, ...], f: Callable[[Expr], Expr]) -> tuple[Stmt, ...]:
    """Apply ``f`` bottom-up to every expression of ``body``, at any depth."""

    def visit(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map_bodies(map_exprs(s, lambda e: transform(e, f)), visit) for s in stmts)

    return visit(body)
