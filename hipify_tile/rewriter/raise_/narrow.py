"""Narrowing of launch-index arithmetic from C's uint32 to int32, where the bits are the same.

```
(int32)((uint32) bx * (uint32) block_x + (uint32) tx)   →   bx * block_x + tx
(uint32) tx < 16u                                       →   tx < 16
```

Sums and products wrap at the same width, so a conversion moves through ``+ - * & | ^ <<``. A
comparison, quotient or right shift keeps its meaning only for operands below 2**31, which the
ranges of launch indices show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hipify_tile.analyzer.value_ranges import may_wrap
from hipify_tile.ir.arithmetic import wrap
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Unary,
    UnaryOp,
    Var,
)
from hipify_tile.ir.stmt import AtomicRMW, Stmt, Store, map_bodies
from hipify_tile.ir.types import BOOL, I32, I64, U32, U64
from hipify_tile.rewriter.raise_.launch_axes import map_body

_RING = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)
_INT32_MAX = 2**31 - 1
OPPOSITE = {
    CompareOp.LT: CompareOp.GE,
    CompareOp.LE: CompareOp.GT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
}


@dataclass(frozen=True, slots=True)
class Narrower:
    """``ranges`` gives inclusive bounds of int32 variables that are never negative."""

    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Rewrite every expression of ``body``."""
        return self._stored(map_body(body, self.expr))

    def _stored(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in body:
            match stmt:
                case Store() | AtomicRMW():
                    done.append(replace(stmt, indices=tuple(map(self.index, stmt.indices))))
                case _:
                    done.append(map_bodies(stmt, self._stored))
        return tuple(done)

    def expr(self, expr: Expr) -> Expr:
        """Rewrite one node whose operands have been rewritten."""
        match expr:
            case Cast(operand=inner, type=type_) if type_ == inner.type:
                return inner
            case Cast(operand=Const(value=value), type=type_) if type_.is_integer and isinstance(
                value, int
            ):
                return Const(wrap(value, type_), type_, expr.span)
            case Cast(operand=inner, type=type_) if inner.type == U32 and type_ == I32:
                signed = self.signed(inner)
                return signed if signed is not None else expr
            case Cast(operand=inner, type=type_) if inner.type == U32 and type_ in (I64, U64):
                return self._widened(expr, inner)
            case Cast(operand=Cast(operand=inner), type=type_) if (
                inner.type == I32 and expr.operand.type in (I64, U64) and type_ in (I32, U32)
            ):
                return inner if type_ == I32 else replace(expr, operand=inner)
            case Load(indices=indices) if any(i.type == U32 for i in indices):
                return replace(expr, indices=tuple(map(self.index, indices)))
            case Compare(lhs=lhs) if lhs.type == U32:
                return self._compared(expr)
            case Binary(op=BinaryOp.DIV | BinaryOp.REM | BinaryOp.SHR, type=type_) if type_ == U32:
                return self._divided(expr)
            case Unary(op=UnaryOp.NOT, operand=Compare() as c) if not c.lhs.type.is_float:
                return replace(c, op=OPPOSITE[c.op])
            case Unary(op=UnaryOp.NOT, operand=Unary(op=UnaryOp.NOT, operand=inner)):
                return inner
            case _:
                return expr

    def signed(self, expr: Expr) -> Expr | None:
        """Return the int32 expression with the bits of a uint32 one, if it needs no conversion."""
        match expr:
            case Const(value=value):
                return Const(wrap(int(value), I32), I32, expr.span)
            case Cast(operand=inner) if inner.type == I32:
                return inner
            case Binary(op=op, lhs=lhs, rhs=rhs) if op in _RING:
                left, right = self.signed(lhs), self.signed(rhs)
                if left is None or right is None:
                    return None
                return Binary(op, left, right, I32, expr.span)
            case Binary(op=BinaryOp.SHL, lhs=lhs, rhs=Const(value=count)):
                left = self.signed(lhs)
                if left is None:
                    return None
                return Binary(BinaryOp.SHL, left, Const(int(count), I32), I32, expr.span)
            case _:
                return None

    def small(self, expr: Expr) -> Expr | None:
        """Return a uint32 expression as int32 if no part of it leaves 0 … 2**31 - 1."""
        return None if may_wrap(expr, self.ranges, (0, _INT32_MAX)) else self.signed(expr)

    def index(self, index: Expr) -> Expr:
        """Return an unsigned index as int32 where it is small."""
        small = self.small(index) if index.type == U32 else None
        return index if small is None else small

    def _widened(self, expr: Cast, inner: Expr) -> Expr:
        small = self.small(inner)
        return expr if small is None else replace(expr, operand=small)

    def _compared(self, expr: Compare) -> Expr:
        left, right = self.small(expr.lhs), self.small(expr.rhs)
        if left is not None and right is not None:
            return replace(expr, lhs=left, rhs=right)
        if expr.op in (CompareOp.EQ, CompareOp.NE):
            left, right = self.signed(expr.lhs), self.signed(expr.rhs)
            if left is not None and right is not None and not _sums(left) and not _sums(right):
                return replace(expr, lhs=left, rhs=right)
        match expr.op, expr.rhs:
            case CompareOp.GE, Const(value=0):
                return Const(True, BOOL, expr.span) if _total(expr.lhs) else expr
            case CompareOp.LT, Const(value=0):
                return Const(False, BOOL, expr.span) if _total(expr.lhs) else expr
            case _:
                return expr

    def _divided(self, expr: Binary) -> Expr:
        left, right = self.small(expr.lhs), self.small(expr.rhs)
        if left is None or right is None:
            return expr
        return Cast(Binary(expr.op, left, right, I32, expr.span), U32, expr.span)


def _total(expr: Expr) -> bool:
    """Whether dropping the evaluation of ``expr`` cannot be noticed."""
    match expr:
        case Load():
            return False
        case Binary(op=BinaryOp.DIV | BinaryOp.REM):
            return False
        case Var() | Const():
            return True
        case Cast(operand=inner) | Unary(operand=inner):
            return _total(inner)
        case Binary(lhs=lhs, rhs=rhs):
            return _total(lhs) and _total(rhs)
        case _:
            return False


def _sums(expr: Expr) -> bool:
    """Whether an int32 expression may overflow; TileLang compares as if it could not."""
    return not isinstance(expr, Var | Const)
