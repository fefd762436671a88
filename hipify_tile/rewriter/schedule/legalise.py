"""Which targets a tile program is legal on.

Elementwise programs are legal wherever their types exist. A ``Gemm`` is legal where its
arithmetic is that of its type: TileLang computes a float32 product in tf32 on NVIDIA GPUs and has
no float64 matrix operation on AMD GPUs, so a float32 contraction is for the CPU and a float64 one
for the CPU and CUDA. Ascend needs another dialect (vector blocks) and is never legal here.
"""

from __future__ import annotations

from collections.abc import Iterator

from hipify_tile.ir.expr import walk
from hipify_tile.ir.stmt import exprs, walk_stmts
from hipify_tile.ir.tile import Elementwise, Gemm, Program, Serial, TileOp
from hipify_tile.ir.types import BF16, F64, Kind, ScalarType
from hipify_tile.rewriter.model import Target


def legal_targets(program: Program) -> tuple[Target, ...]:
    """Targets that compute ``program`` in its own types, in the order of ``Target``."""
    types = set(_types(program))
    legal = {Target.CUDA, Target.HIP, Target.METAL, Target.WEBGPU, Target.CPU}
    if any(isinstance(op, Gemm) for op in _ops(program.body)):
        product = next(a.dtype for a in program.allocs)
        legal = {Target.CPU, Target.CUDA} if product == F64 else {Target.CPU}
    if any(t.bits == 64 and t.kind is Kind.FLOAT for t in types):
        legal -= {Target.METAL, Target.WEBGPU}
    if any(t.bits in (8, 16, 64) for t in types):
        legal -= {Target.WEBGPU}
    if BF16 in types:
        legal -= {Target.CPU}
    return tuple(t for t in Target if t in legal)


def _ops(body: tuple[TileOp, ...]) -> Iterator[TileOp]:
    for op in body:
        yield op
        if isinstance(op, Serial):
            yield from _ops(op.body)


def _types(program: Program) -> Iterator[ScalarType]:
    yield from (t.dtype for t in program.tensors)
    yield from (p.dtype for p in program.params if not p.pointer)
    yield from (dtype for _, dtype in program.locals)
    for op in _ops(program.body):
        if isinstance(op, Elementwise):
            for stmt in walk_stmts(op.body):
                for expr in exprs(stmt):
                    yield from (node.type for node in walk(expr) if node.type.bits != 8)
