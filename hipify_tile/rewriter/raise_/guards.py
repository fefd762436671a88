"""Guards: early returns become ``if`` around the rest, and conjuncts of a guard become bounds.

::

    if (i >= n) return;             if (i < n && mask[i])        extent of i: min(n, …)
    S                        →        S                     →    if (mask[i]) S

    if (c) { S; return; }  T   →   if (c) S else T

A condition is negated exactly: integer comparisons flip, float comparisons (NaN) are wrapped in
``!``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hipify_tile.ir.expr import (
    Call,
    Cast,
    Compare,
    CompareOp,
    Expr,
    Load,
    Logical,
    LogicalOp,
    Unary,
    UnaryOp,
    Var,
    walk,
)
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import KERNEL, Assign, If, Leave, Stmt, walk_stmts
from hipify_tile.ir.types import BOOL, I32, I64, U32
from hipify_tile.rewriter.raise_.forward import names
from hipify_tile.rewriter.raise_.result import NotRaised

_NEGATED = {
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.LE: CompareOp.GT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
}


def negate(cond: Expr) -> Expr:
    """``!cond``, exact for NaN and with the short-circuit order kept."""
    match cond:
        case Unary(op=UnaryOp.NOT, operand=operand):
            return operand
        case Logical(op=op, lhs=lhs, rhs=rhs):
            dual = LogicalOp.AND if op is LogicalOp.OR else LogicalOp.OR
            return Logical(dual, negate(lhs), negate(rhs), span=cond.span)
        case Compare(op=op, lhs=lhs, rhs=rhs) if not lhs.type.is_float:
            return Compare(_NEGATED[op], lhs, rhs, span=cond.span)
        case _:
            return Unary(UnaryOp.NOT, cond, BOOL, span=cond.span)


def returns_to_guards(body: Sequence[Stmt]) -> tuple[Stmt, ...] | NotRaised:
    """Nest what follows a returning ``if`` under the opposite condition."""
    result = _guard(tuple(body))
    for stmt in walk_stmts(result):
        if isinstance(stmt, Leave) and stmt.label == KERNEL:
            return NotRaised("a thread returns from inside a nested statement", stmt.span)
    return result


def _guard(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    for i, stmt in enumerate(body):
        match stmt:
            case Leave(label=label) if label == KERNEL:
                return body[:i]
            case If(then=(*_, Leave(label=label))) if label == KERNEL:
                then = _guard(stmt.then)
                orelse = _guard((*stmt.orelse, *body[i + 1 :]))
            case If(orelse=(*_, Leave(label=label))) if label == KERNEL:
                then = _guard((*stmt.then, *body[i + 1 :]))
                orelse = _guard(stmt.orelse)
            case _:
                continue
        return (*body[:i], *_if(stmt.cond, then, orelse, stmt.span))
    return body


def _if(
    cond: Expr, then: tuple[Stmt, ...], orelse: tuple[Stmt, ...], span: Span | None
) -> tuple[Stmt, ...]:
    if then:
        return (If(cond, then, orelse, span=span),)
    return (If(negate(cond), orelse, span=span),) if orelse else ()


def conjuncts(cond: Expr) -> list[Expr]:
    """``a && b && c`` → ``[a, b, c]``."""
    match cond:
        case Logical(op=LogicalOp.AND, lhs=lhs, rhs=rhs):
            return [*conjuncts(lhs), *conjuncts(rhs)]
        case _:
            return [cond]


def upper_bound(cond: Expr, axes: Mapping[str, int]) -> tuple[str, Expr] | None:
    """``axis < bound`` → (axis, bound as an int32 or int64 extent); None for any other condition.

    ``axes`` names the axis variables (non-negative int32). The bound is uniform: no axis, no load.
    """
    match cond:
        case Compare(op=CompareOp.LT, lhs=axis, rhs=bound):
            pass
        case Compare(op=CompareOp.GT, lhs=bound, rhs=axis):
            pass
        case _:
            return None
    if isinstance(axis, Cast):
        axis = axis.operand
    if not isinstance(axis, Var) or axis.name not in axes or axis.type != I32:
        return None
    if any(isinstance(node, Load) for node in walk(bound)) or names(bound) & axes.keys():
        return None
    if bound.type == U32:
        return axis.name, Cast(bound, I64)
    return (axis.name, bound) if bound.type in (I32, I64) else None


def guards_to_extents(
    body: tuple[Stmt, ...], extents: dict[str, Expr], invariant: set[str]
) -> tuple[Stmt, ...]:
    """Move leading upper-bound guards of ``body`` into ``extents`` (updated in place).

    ``extents`` maps axis variables to their extents; bounds may read only ``invariant`` names.
    """
    axes = dict.fromkeys(extents, 0)
    match body:
        case (*before, If(cond=cond, then=then, orelse=()) as guard) if _sinks(before, cond):
            residual: list[Expr] = []
            for conjunct in conjuncts(cond):
                bound = upper_bound(conjunct, axes)
                if bound is None or not names(bound[1]) <= invariant:
                    residual.append(conjunct)
                else:
                    extents[bound[0]] = minimum(bound[1], extents[bound[0]])
            if not residual:
                return guards_to_extents((*before, *then), extents, invariant)
            rest = residual[0]
            for conjunct in residual[1:]:
                rest = Logical(LogicalOp.AND, rest, conjunct)
            return (If(rest, (*before, *then), span=guard.span),)
        case _:
            return body


def _sinks(before: Sequence[Stmt], cond: Expr) -> bool:
    """Whether the statements may move under a guard on ``cond`` that nothing follows."""
    return all(
        isinstance(stmt, Assign)
        and stmt.target not in names(cond)
        and not any(isinstance(node, Load) for node in walk(stmt.value))
        for stmt in before
    )


def minimum(a: Expr, b: Expr) -> Expr:
    """``min(a, b)`` of int32 or int64 extents, in the wider type."""
    dtype = a.type if a.type.bits >= b.type.bits else b.type
    wide = [x if x.type == dtype else Cast(x, dtype) for x in (a, b)]
    return wide[0] if wide[0] == wide[1] else Call("min", (wide[0], wide[1]), dtype)
