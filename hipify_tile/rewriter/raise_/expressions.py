"""Build integer expressions from polynomials, for shapes, strides and extents."""

from __future__ import annotations

from collections.abc import Mapping

from hipify_tile.analyzer.affine import Polynomial
from hipify_tile.ir.expr import Binary, BinaryOp, Cast, Const, Expr, Var
from hipify_tile.ir.types import I32, I64, ScalarType


def polynomial_expr(value: Polynomial, types: Mapping[str, ScalarType]) -> Expr | None:
    """``{n: 1, (): 2}`` → ``n + 2`` in int32, or in int64 if a name is no int32.

    None if ``types`` lacks a name.
    """
    if not value.names() <= types.keys():
        return None
    dtype = I32 if all(types[name] == I32 for name in value.names()) else I64
    total: Expr | None = None
    for monomial, coefficient in value.terms:
        product: Expr | None = None if coefficient == 1 and monomial else Const(coefficient, dtype)
        for name in monomial:
            factor = Var(name, types[name])
            wide = factor if factor.type == dtype else Cast(factor, dtype)
            product = wide if product is None else Binary(BinaryOp.MUL, product, wide, dtype)
        assert product is not None
        total = product if total is None else Binary(BinaryOp.ADD, total, product, dtype)
    return Const(0, dtype) if total is None else total
