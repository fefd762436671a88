"""Tile a raised nest: parallel axes become a grid of blocks and a tile within the block.

::

    parallel i < n:  S(i)      →   grid bx < ceildiv(n, tile_x):
                                     parallel i_in < tile_x:  i = bx * tile_x + i_in;  if (i < n)
                                     S(i)

    contraction row, col | k   →   grid bx < ceildiv(cols, block_N), by < ceildiv(rows, block_M):
                                     fill C_tile; for ko: copy A_tile, copy B_tile, gemm
                                     parallel i, j: c[row, col] = epilogue(C_tile[i, j])

Ragged edges: a copy reads zero beyond the tensor's shape, and the shape of an operand is what the
launch computes (``min(m, grid_y * block_y)`` rows), so no element is read that the kernel does
not read. The grid has at least one block: a launch with an empty extent computes nothing, but is
a legal launch.
"""

from __future__ import annotations

from collections.abc import Mapping

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Logical,
    LogicalOp,
    Var,
    transform,
)
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.stmt import Access, Assign, Axis, AxisKind, Contraction, If, Loop, Stmt, Store
from hipify_tile.ir.tile import (
    Alloc,
    Copy,
    Elementwise,
    Fill,
    Gemm,
    Program,
    Region,
    Serial,
    Tensor,
    TileScope,
)
from hipify_tile.ir.types import I32, I64
from hipify_tile.rewriter.names import Namer
from hipify_tile.rewriter.raise_.threads import LAUNCH_SYMBOLS
from hipify_tile.rewriter.schedule.select import (
    ELEMENTWISE_THREADS,
    elementwise_tiles,
    gemm_tiles,
)

_AXES = "xyz"


def schedule(nest: Nest) -> Program:
    """Return the tile program of a recognised nest (a parallel ``Loop`` or a ``Contraction``)."""
    match nest.body:
        case (Loop() as loop,):
            return _elementwise(nest, loop)
        case (Contraction() as contraction,):
            return _contraction(nest, contraction)
        case _:
            raise ValueError("the nest was not recognised")


def _namer(nest: Nest) -> Namer:
    taken = {p.name for p in nest.params} | {b.name for b in nest.buffers}
    taken |= {name for name, _ in nest.locals} | {s.name for s in LAUNCH_SYMBOLS}
    return Namer(taken)


def _flat_tensors(nest: Nest, namer: Namer, without: frozenset[str] = frozenset()) -> list[Tensor]:
    return [
        Tensor(
            b.name,
            b.dtype,
            (Var(namer.fresh(f"{b.name}_len"), I32),),
            b.written,
            storage=b.storage or b.name,
            symbol=b.symbol,
        )
        for b in nest.buffers
        if b.name not in without
    ]


def _elementwise(nest: Nest, loop: Loop) -> Program:
    namer = _namer(nest)
    namer.taken.update(axis.var.name for axis in loop.axes)
    sizes = elementwise_tiles(len(loop.axes))
    tunables: list[tuple[str, int]] = []
    definitions: list[tuple[Var, Expr]] = []
    grid: list[Axis] = []
    inner: list[Axis] = []
    points: list[tuple[Var, Expr]] = []
    guard: Expr | None = None
    for position, (axis, size) in enumerate(zip(loop.axes, sizes, strict=True)):
        letter = _AXES[len(loop.axes) - 1 - position]
        tile = Var(namer.fresh(f"tile_{letter}"), I32)
        tunables.append((tile.name, size))
        extent = Var(namer.fresh(f"extent_{letter}"), axis.extent.type)
        definitions.append((extent, axis.extent))
        block = Var(namer.fresh(f"b{letter}"), I32)
        grid.append(Axis(block, _blocks(extent, tile), AxisKind.PARALLEL))
        offset = Var(namer.fresh(f"{axis.var.name}_in"), I32)
        inner.append(Axis(offset, tile, AxisKind.PARALLEL))
        points.append((axis.var, _point(block, tile, offset)))
        guard = _conjunction(guard, _below(axis.var, extent))
    assert guard is not None
    return Program(
        name=nest.name,
        mangled=nest.mangled,
        params=nest.params,
        argument_sizes=nest.argument_sizes,
        tensors=tuple(_flat_tensors(nest, namer)),
        grid=tuple(reversed(grid)),
        threads=ELEMENTWISE_THREADS,
        tunables=tuple(tunables),
        definitions=tuple(definitions),
        locals=nest.locals,
        allocs=(),
        body=(Elementwise(tuple(inner), (If(guard, loop.body),), tuple(points)),),
        assumes=nest.assumes,
        launch=LAUNCH_SYMBOLS,
        span=nest.span,
    )


def _contraction(nest: Nest, op: Contraction) -> Program:
    namer = _namer(nest)
    row_axis, col_axis, sum_axis = op.axes
    namer.taken.update(axis.var.name for axis in op.axes)
    dtype = op.accumulator.type
    tiles = gemm_tiles(dtype)
    block_m, block_n, block_k = (Var(namer.fresh(f"block_{a}"), I32) for a in "MNK")
    rows = Var(namer.fresh("rows"), row_axis.extent.type)
    cols = Var(namer.fresh("cols"), col_axis.extent.type)
    depth = Var(namer.fresh("depth"), sum_axis.extent.type)
    extents = {
        row_axis.var.name: rows,
        col_axis.var.name: cols,
        sum_axis.var.name: depth,
    }
    tile_sizes = {
        row_axis.var.name: block_m,
        col_axis.var.name: block_n,
        sum_axis.var.name: block_k,
    }
    bx, by = Var(namer.fresh("bx"), I32), Var(namer.fresh("by"), I32)
    step = Var(namer.fresh("ko"), I32)
    blocks = {row_axis.var.name: by, col_axis.var.name: bx, sum_axis.var.name: step}
    lhs_tile, rhs_tile, out_tile = (
        Var(namer.fresh(f"{access.buffer}_tile"), dtype) for access in (op.lhs, op.rhs, op.out)
    )

    def operand(access: Access, tile: Var) -> tuple[Alloc, Copy]:
        names = [_name(index) for index in access.indices]
        alloc = Alloc(tile.name, dtype, tuple(tile_sizes[n] for n in names), TileScope.SHARED)
        origin = tuple(_times(blocks[n], tile_sizes[n]) for n in names)
        zero = (Const(0, I32),) * 2
        return alloc, Copy(Region(access.buffer, origin), Region(tile.name, zero))

    lhs_alloc, lhs_copy = operand(op.lhs, lhs_tile)
    rhs_alloc, rhs_copy = operand(op.rhs, rhs_tile)
    gemm = Gemm(
        lhs_tile.name,
        rhs_tile.name,
        out_tile.name,
        transpose_a=_name(op.lhs.indices[0]) == sum_axis.var.name,
        transpose_b=_name(op.rhs.indices[0]) == col_axis.var.name,
    )
    i, j = Var(namer.fresh("i"), I32), Var(namer.fresh("j"), I32)
    row, col = row_axis.var, col_axis.var
    guard = Logical(LogicalOp.AND, _below(row, rows), _below(col, cols))
    store: tuple[Stmt, ...] = (
        Assign(op.accumulator.name, Load(out_tile.name, (i, j), dtype)),
        Store(op.out.buffer, (row, col), _own_element(op, row, col), span=op.span),
    )
    matrices = (op.lhs, op.rhs, op.out)
    tensors = [
        Tensor(
            access.buffer,
            dtype,
            tuple(extents[_name(index)] for index in access.indices),
            access is op.out,
            strides=_strides(access, {a.var.name: a.extent for a in op.axes}),
            storage=access.buffer,
        )
        for access in matrices
    ]
    tensors += _flat_tensors(nest, namer, frozenset(access.buffer for access in matrices))
    order = [b.name for b in nest.buffers]
    return Program(
        name=nest.name,
        mangled=nest.mangled,
        params=nest.params,
        argument_sizes=nest.argument_sizes,
        tensors=tuple(sorted(tensors, key=lambda t: order.index(t.name))),
        grid=(
            Axis(bx, _blocks(cols, block_n), AxisKind.PARALLEL),
            Axis(by, _blocks(rows, block_m), AxisKind.PARALLEL),
        ),
        threads=tiles.threads,
        tunables=(
            (block_m.name, tiles.block_m),
            (block_n.name, tiles.block_n),
            (block_k.name, tiles.block_k),
        ),
        definitions=(
            (rows, row_axis.extent),
            (cols, col_axis.extent),
            (depth, sum_axis.extent),
        ),
        locals=((op.accumulator.name, dtype),),
        allocs=(
            lhs_alloc,
            rhs_alloc,
            Alloc(out_tile.name, dtype, (block_m, block_n), TileScope.FRAGMENT),
        ),
        body=(
            Fill(out_tile.name, op.init),
            Serial(
                Axis(step, Call("ceildiv", (depth, block_k), I32), AxisKind.SEQUENTIAL),
                (lhs_copy, rhs_copy, gemm),
                stages=tiles.stages,
            ),
            Elementwise(
                (
                    Axis(i, block_m, AxisKind.PARALLEL),
                    Axis(j, block_n, AxisKind.PARALLEL),
                ),
                (If(guard, store),),
                ((row, _point(by, block_m, i)), (col, _point(bx, block_n, j))),
            ),
        ),
        assumes=nest.assumes,
        launch=LAUNCH_SYMBOLS,
        reassociates=True,
        span=nest.span,
    )


def _own_element(op: Contraction, row: Var, col: Var) -> Expr:
    """The epilogue with the flat index of the output's own element as ``[row, col]``."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer == op.out.buffer:
            return Load(expr.buffer, (row, col), expr.type, span=expr.span)
        return expr

    return transform(op.epilogue, visit)


def _strides(access: Access, extents: Mapping[str, Expr]) -> tuple[Expr, ...]:
    """The strides, or () where rows follow one another."""
    return () if access.strides[0] == extents[_name(access.indices[1])] else access.strides


def _name(index: Expr) -> str:
    assert isinstance(index, Var)
    return index.name


def _blocks(extent: Var, tile: Var) -> Expr:
    """``max(ceildiv(extent, tile), 1)``."""
    size: Expr = tile if extent.type == I32 else Cast(tile, I64)
    blocks: Expr = Call("ceildiv", (extent, size), extent.type)
    return Call("max", (blocks, Const(1, extent.type)), extent.type)


def _times(a: Var, b: Var) -> Expr:
    return Binary(BinaryOp.MUL, a, b, I32)


def _point(block: Var, tile: Var, offset: Var) -> Expr:
    return Binary(BinaryOp.ADD, _times(block, tile), offset, I32)


def _below(point: Var, extent: Var) -> Expr:
    value: Expr = point if extent.type == I32 else Cast(point, extent.type)
    return Compare(CompareOp.LT, value, extent)


def _conjunction(left: Expr | None, right: Expr) -> Expr:
    return right if left is None else Logical(LogicalOp.AND, left, right)
