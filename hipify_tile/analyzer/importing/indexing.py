"""Element indices of byte addresses: ``p + 4 * i`` bytes into floats is element ``i``.

Every step is exact for addresses inside an object; what does not divide visibly is divided when
the kernel runs, and what is never aligned is refused.
"""

from __future__ import annotations

from hipify_tile.analyzer.importing.canonicalize import fold_cast
from hipify_tile.analyzer.importing.refusal import Refusal
from hipify_tile.analyzer.importing.values import Address
from hipify_tile.ir.expr import Binary, BinaryOp, Cast, Const, Expr
from hipify_tile.ir.types import I32, I64, Kind, ScalarType


def plus(a: Expr, b: Expr, type_: ScalarType) -> Expr:
    """Return ``a + b`` with zero constants dropped."""
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(int(a.value) + int(b.value), type_)
    if isinstance(a, Const) and a.value == 0:
        return b
    if isinstance(b, Const) and b.value == 0:
        return a
    return Binary(BinaryOp.ADD, a, b, type_)


def scale(a: Expr, n: int, type_: ScalarType) -> Expr:
    """Return ``a * n`` with trivial factors dropped."""
    if isinstance(a, Const):
        return Const(int(a.value) * n, type_)
    return a if n == 1 else Binary(BinaryOp.MUL, a, Const(n, type_), type_)


def element_index(address: Address, width: int) -> Expr:
    """Return the index of the ``width``-byte element at ``address``; refuses unaligned ones."""
    parts: list[tuple[Expr, int]] = []
    rest: list[tuple[Expr, int]] = []
    for expr, stride in address.terms:
        if stride % width == 0:
            parts.append((expr, stride // width))
        elif width % stride == 0 and (q := divide(expr, width // stride)) is not None:
            parts.append((q, 1))
        else:
            rest.append((expr, stride))
    if address.const % width and not rest:
        raise Refusal("TM1005", "memory is accessed at an unaligned offset")
    if not rest and len(parts) == 1 and address.const == 0 and parts[0][1] == 1:
        return parts[0][0]
    if not rest and not parts:
        value = address.const // width
        return Const(value, I32 if -(2**31) <= value < 2**31 else I64)
    total: Expr = Const(0, I64)
    for expr, factor in parts:
        total = plus(total, scale(fold_cast(expr, I64), factor, I64), I64)
    if rest:
        # The object is aligned in any program without undefined behaviour: the sum divides.
        unaligned: Expr = Const(address.const, I64)
        for expr, stride in rest:
            unaligned = plus(unaligned, scale(fold_cast(expr, I64), stride, I64), I64)
        quotient = Binary(BinaryOp.DIV, unaligned, Const(width, I64), I64)
        return plus(total, quotient, I64)
    return plus(total, Const(address.const // width, I64), I64)


def divide(expr: Expr, n: int) -> Expr | None:
    """Return ``expr / n`` if every summand of ``expr`` is a visible multiple of ``n``.

    Exact for address arithmetic: a product that wraps would be outside every object.
    """
    match expr:
        case Const() if expr.type.kind is not Kind.FLOAT and int(expr.value) % n == 0:
            return Const(int(expr.value) // n, expr.type)
        case Binary(op=BinaryOp.MUL):
            for a, b in ((expr.lhs, expr.rhs), (expr.rhs, expr.lhs)):
                if (q := divide(a, n)) is not None:
                    if isinstance(q, Const) and q.value == 1:
                        return b
                    return Binary(BinaryOp.MUL, q, b, expr.type)
            return None
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB):
            lhs, rhs = divide(expr.lhs, n), divide(expr.rhs, n)
            if lhs is None or rhs is None:
                return None
            return Binary(expr.op, lhs, rhs, expr.type)
        case Cast() if expr.type.bits == 64 and expr.operand.type.kind is Kind.INT:
            inner = divide(expr.operand, n)
            return None if inner is None else Cast(inner, expr.type, expr.span)
        case Cast() if expr.type == I64 and expr.operand.type.bits == 64:
            inner = divide(expr.operand, n)
            return None if inner is None else Cast(inner, expr.type, expr.span)
        case _:
            return None
