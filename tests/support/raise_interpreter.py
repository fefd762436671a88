"""Reference for the raising tests: run a ``simt.Kernel`` thread by thread, in numpy scalars.

Independent of the rewriter. No barriers, shared memory or atomics.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    IndexKind,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.stmt import KERNEL, Assign, Block, For, If, Leave, Stmt, Store, While
from hipify_tile.ir.types import ScalarType

Dim = tuple[int, int, int]
_BINARY = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUB: np.subtract,
    BinaryOp.MUL: np.multiply,
    BinaryOp.AND: np.bitwise_and,
    BinaryOp.OR: np.bitwise_or,
    BinaryOp.XOR: np.bitwise_xor,
    BinaryOp.SHL: np.left_shift,
    BinaryOp.SHR: np.right_shift,
}
_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_CALLS = {"sqrt": np.sqrt, "fabs": np.abs, "floor": np.floor, "min": np.minimum, "max": np.maximum}


class _Left(Exception):
    def __init__(self, label: str) -> None:
        self.label = label


def run(
    kernel: Kernel,
    grid: Dim,
    block: Dim,
    memory: Mapping[str, np.ndarray],
    scalars: Mapping[str, object],
) -> None:
    """Execute the launch in order of threads, updating ``memory`` in place."""
    with np.errstate(all="ignore"):
        for bz, by, bx in itertools.product(*map(range, reversed(grid))):
            for tz, ty, tx in itertools.product(*map(range, reversed(block))):
                thread = _Thread(
                    {
                        IndexKind.THREAD: (tx, ty, tz),
                        IndexKind.BLOCK: (bx, by, bz),
                        IndexKind.BLOCK_DIM: block,
                        IndexKind.GRID_DIM: grid,
                    },
                    memory,
                    {
                        p.name: _dtype(p.dtype).type(scalars[p.name])
                        for p in kernel.params
                        if not p.pointer
                    },
                )
                try:
                    thread.body(kernel.body)
                except _Left as left:
                    assert left.label == KERNEL


def _dtype(type_: ScalarType) -> np.dtype:
    return np.dtype(str(type_))


class _Thread:
    def __init__(self, indices, memory, scope) -> None:
        self.indices = indices
        self.memory = memory
        self.scope = dict(scope)

    def body(self, stmts: tuple[Stmt, ...]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(target=target, value=value):
                self.scope[target] = self.value(value)
            case Store(buffer=buffer, indices=(index,), value=value):
                at = int(self.value(index))
                assert 0 <= at < len(self.memory[buffer]), f"{buffer}[{at}]"
                self.memory[buffer][at] = self.value(value)
            case If(cond=cond, then=then, orelse=orelse):
                self.body(then if self.value(cond) else orelse)
            case Leave(label=label):
                raise _Left(label)
            case For(var=var, start=start, stop=stop, step=step, body=body, label=label):
                first, last = int(self.value(start)), int(self.value(stop))
                self.labelled(
                    label,
                    lambda: [self.iteration(var, i, body) for i in range(first, last, step)],
                )
            case While(cond=cond, body=body, label=label):
                self.labelled(label, lambda: self.loop(cond, body))
            case Block(label=label, body=body):
                self.labelled(label, lambda: self.body(body))
            case _:
                raise NotImplementedError(stmt)

    def labelled(self, label: str, action) -> None:
        try:
            action()
        except _Left as left:
            if left.label != label:
                raise

    def loop(self, cond: Expr, body: tuple[Stmt, ...]) -> None:
        while self.value(cond):
            self.body(body)

    def iteration(self, var: Var, i: int, body: tuple[Stmt, ...]) -> None:
        self.scope[var.name] = _dtype(var.type).type(i)
        self.body(body)

    def value(self, expr: Expr):
        match expr:
            case Const():
                return _dtype(expr.type).type(expr.value)
            case Var(name=name):
                return self.scope[name]
            case Index(kind=kind, axis=axis):
                return _dtype(expr.type).type(self.indices[kind][axis])
            case Load(buffer=buffer, indices=(index,)):
                at = int(self.value(index))
                assert 0 <= at < len(self.memory[buffer]), f"{buffer}[{at}]"
                return self.memory[buffer][at]
            case Cast(operand=operand):
                return np.asarray(self.value(operand)).astype(_dtype(expr.type))[()]
            case Unary(op=UnaryOp.NOT, operand=operand):
                return not self.value(operand)
            case Unary(op=UnaryOp.NEG, operand=operand):
                return _dtype(expr.type).type(-self.value(operand))
            case Binary(op=op, lhs=lhs, rhs=rhs):
                return self.binary(op, self.value(lhs), self.value(rhs), expr.type)
            case Compare(op=op, lhs=lhs, rhs=rhs):
                return bool(_COMPARE[str(op)](self.value(lhs), self.value(rhs)))
            case Logical(op=op, lhs=lhs, rhs=rhs):
                left = self.value(lhs)
                return left if bool(left) is (op is LogicalOp.OR) else self.value(rhs)
            case Select(cond=cond, then=then, orelse=orelse):
                return self.value(then if self.value(cond) else orelse)
            case Call(name=name, args=args):
                return _CALLS[name](*map(self.value, args))
            case _:
                raise NotImplementedError(expr)

    def binary(self, op: BinaryOp, a, b, type_: ScalarType):
        match op:
            case BinaryOp.DIV if type_.is_float:
                return a / b
            case BinaryOp.DIV | BinaryOp.REM:
                quotient = abs(int(a)) // abs(int(b))
                quotient = -quotient if (a < 0) != (b < 0) else quotient
                result = quotient if op is BinaryOp.DIV else int(a) - quotient * int(b)
                return _dtype(type_).type(result)
            case _:
                return _dtype(type_).type(_BINARY[op](a, b))
