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
from hipify_tile.ir.stmt import Stmt
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
        return map_body(body, self.expr)

    def expr(self, expr: Expr) -> Expr:
        """Rewrite one node whose operands have been rewritten."""
        match expr:
            case Cast(operand=inner, type=type_) if type_ == inner.type:
                return inner
            case Cast(operand=Const(value=value), type=type_) if type_.is_integer and isinstance(
                value, int
            ):
                return Const(wrap(value, type_.bits, type_.kind.value == "int"), type_, expr.span)
            case Cast(operand=inner, type=type_) if inner.type == U32 and type_ == I32:
                signed = self.signed(inner)
                return signed if signed is not None else expr
            case Cast(operand=inner, type=type_) if inner.type == U32 and type_ in (I64, U64):
                return self._widened(expr, inner)
            case Cast(operand=Cast(operand=inner), type=type_) if (
                inner.type == I32 and expr.operand.type in (I64, U64) and type_ in (I32, U32)
            ):
                return inner if type_ == I32 else replace(expr, operand=inner)
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
                return Const(wrap(int(value), 32, True), I32, expr.span)
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
        """Return a uint32 expression as int32 if it is known to be below 2**31 as an integer."""
        bounds = self.bounds(expr)
        return self.signed(expr) if bounds is not None and bounds[1] <= _INT32_MAX else None

    def bounds(self, expr: Expr) -> tuple[int, int] | None:
        """Bound a uint32 expression that does not wrap around."""
        match expr:
            case Const(value=value):
                return int(value), int(value)
            case Cast(operand=Var(name=name)) if name in self.ranges:
                return self.ranges[name]
            case Cast(operand=inner) if inner.type == I32:
                return self._int32_bounds(inner)
            case Binary(op=BinaryOp.ADD | BinaryOp.MUL as op, lhs=lhs, rhs=rhs):
                left, right = self.bounds(lhs), self.bounds(rhs)
                return _combine(op, left, right, 2**32 - 1)
            case _:
                return None

    def _int32_bounds(self, expr: Expr) -> tuple[int, int] | None:
        """Bound an int32 expression that is never negative and does not overflow."""
        match expr:
            case Var(name=name):
                return self.ranges.get(name)
            case Const(value=value):
                return (int(value), int(value)) if int(value) >= 0 else None
            case Binary(op=op, lhs=lhs, rhs=rhs):
                left, right = self._int32_bounds(lhs), self._int32_bounds(rhs)
                if left is None or right is None:
                    return None
                match op:
                    case BinaryOp.ADD | BinaryOp.MUL:
                        return _combine(op, left, right, _INT32_MAX)
                    case BinaryOp.DIV | BinaryOp.SHR:
                        return (0, left[1])
                    case BinaryOp.REM if right[0] > 0:
                        return (0, min(left[1], right[1] - 1))
                    case BinaryOp.AND:
                        return (0, min(left[1], right[1]))
                    case _:
                        return None
            case _:
                return None

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


def _combine(
    op: BinaryOp, left: tuple[int, int] | None, right: tuple[int, int] | None, limit: int
) -> tuple[int, int] | None:
    if left is None or right is None:
        return None
    if op is BinaryOp.ADD:
        low, high = left[0] + right[0], left[1] + right[1]
    else:
        low, high = left[0] * right[0], left[1] * right[1]
    return (low, high) if high <= limit else None


def wrap(value: int, bits: int, signed: bool) -> int:
    """Reduce ``value`` modulo 2**bits into the range of a signed or unsigned type."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value
