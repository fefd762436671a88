"""Canonicalisation of imported programs: pure IR → IR, exact.

- ``int32(u32 a * b + c)`` → ``int32(a) * int32(b) + int32(c)``: ``+ - *`` are the same modulo 2^32
- ``int32(int64(i))`` → ``i``; a conversion to the own type disappears; ``bool(x)`` → ``x != 0``
- integer constants fold with C's widths; float operations never do (literals convert exactly)
- ``if`` on a constant keeps the taken branch
- assignments to locals that nothing reads disappear
- ``leave`` in tail position disappears, and so does a block that nothing leaves
"""

from __future__ import annotations

from dataclasses import replace

from hipify_tile.ir import arithmetic
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
    transform,
    walk,
)
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicRMW,
    Block,
    Contraction,
    For,
    If,
    Leave,
    Loop,
    Stmt,
    While,
    exprs,
    map_bodies,
    map_exprs,
    walk_stmts,
)
from hipify_tile.ir.types import BOOL, F32, F64, Kind, ScalarType

_RING = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)
_EXACT_INT = {F32: 1 << 24, F64: 1 << 53}


def canonicalize(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return the canonical form of a kernel's body."""
    current = _drop_tail_leaves(_stmts(body), frozenset({KERNEL}))
    while True:
        read = _read_names(current)
        smaller = _without_dead(current, read)
        if smaller == current:
            return current
        current = smaller


def _read_names(body: tuple[Stmt, ...]) -> frozenset[str]:
    return frozenset(
        e.name for s in walk_stmts(body) for x in exprs(s) for e in walk(x) if isinstance(e, Var)
    )


def _without_dead(body: tuple[Stmt, ...], read: frozenset[str]) -> tuple[Stmt, ...]:
    kept: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.target not in read:
            continue
        if isinstance(stmt, AtomicRMW) and stmt.result is not None and stmt.result not in read:
            stmt = replace(stmt, result=None)
        done = map_bodies(stmt, lambda b: _without_dead(b, read))
        if isinstance(done, If) and not done.then and not done.orelse:
            continue
        kept.append(done)
    return tuple(kept)


def fold_cast(expr: Expr, type_: ScalarType) -> Expr:
    """Return ``expr`` converted to ``type_``; literals convert at once where that is exact."""
    source = expr.type
    if source == type_:
        return expr
    if isinstance(expr, Const):
        folded = _convert_const(expr, type_)
        if folded is not None:
            return folded
    if isinstance(expr, Cast) and _passes_through(expr.operand.type, source, type_):
        return fold_cast(expr.operand, type_)
    return Cast(expr, type_, expr.span)


def _passes_through(a: ScalarType, middle: ScalarType, b: ScalarType) -> bool:
    """Whether integers convert from ``a`` to ``b`` alike with and without ``middle``."""
    if not (a.is_integer and middle.is_integer and b.is_integer):
        return False
    if b.bits <= middle.bits:
        return True  # conversion is reduction modulo 2^bits
    if a.kind is middle.kind:
        return middle.bits >= a.bits
    return a.kind is Kind.UINT and middle.bits > a.bits


def _convert_const(expr: Const, type_: ScalarType) -> Const | None:
    value = expr.value
    if expr.type.is_float:
        if type_ == F64:
            return Const(float(value), type_, expr.span)
        if type_ == F32:
            return Const(arithmetic.round_float32(float(value)), type_, expr.span)
        return None
    if type_ == BOOL:
        return Const(bool(value), type_, expr.span)
    if type_.is_integer:
        return Const(arithmetic.wrap(int(value), type_), type_, expr.span)
    if type_ in _EXACT_INT and abs(int(value)) <= _EXACT_INT[type_]:
        return Const(float(value), type_, expr.span)
    return None


def simplify(expr: Expr) -> Expr:
    """Return the canonical form of ``expr``."""
    return transform(expr, _fold)


def _fold(expr: Expr) -> Expr:
    match expr:
        case Cast(operand=operand, type=type_):
            return _cast(expr, operand, type_)
        case Binary(lhs=Const(), rhs=Const()) if expr.type.is_integer:
            return _fold_binary(expr)
        case Unary(op=op, operand=Const() as c):  # a sign flip is exact for floats too
            return Const(arithmetic.unary(op, c.value, expr.type), expr.type, expr.span)
        case Unary(op=UnaryOp.NOT, operand=Unary(op=UnaryOp.NOT, operand=inner)):
            return inner
        case Compare(lhs=Const() as a, rhs=Const() as b) if not a.type.is_float:
            return Const(arithmetic.compare(expr.op, a.value, b.value), BOOL, expr.span)
        case Logical(op=op, lhs=Const() as c, rhs=rhs):
            decided = bool(c.value) == (op is LogicalOp.OR)
            return Const(bool(c.value), BOOL, expr.span) if decided else rhs
        case Select(cond=Const() as c):
            return expr.then if c.value else expr.orelse
        case _:
            return expr


def _cast(expr: Cast, operand: Expr, type_: ScalarType) -> Expr:
    if operand.type == type_:
        return operand
    if (
        isinstance(operand, Binary)
        and operand.op in _RING
        and operand.type.is_integer
        and type_.is_integer
        and type_.bits == operand.type.bits
        and type_.bits >= 32
    ):
        lhs, rhs = (simplify(fold_cast(e, type_)) for e in (operand.lhs, operand.rhs))
        return _fold(Binary(operand.op, lhs, rhs, type_, operand.span))
    if (
        type_ == BOOL
        and isinstance(operand, Cast)
        and operand.operand.type == BOOL
        and operand.type.is_integer
    ):
        return operand.operand
    if type_ == BOOL and not isinstance(operand, Const):
        zero = Const(0.0 if operand.type.is_float else 0, operand.type)
        return Compare(CompareOp.NE, operand, zero, BOOL, expr.span)
    folded = fold_cast(operand, type_)
    return expr if folded == expr else folded


def _fold_binary(expr: Binary) -> Expr:
    assert isinstance(expr.lhs, Const) and isinstance(expr.rhs, Const)
    value = arithmetic.binary(expr.op, expr.lhs.value, expr.rhs.value, expr.type)
    return expr if value is None else Const(value, expr.type, expr.span)


def _stmts(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    result: list[Stmt] = []
    for stmt in body:
        done = map_bodies(map_exprs(stmt, simplify), _stmts)
        match done:
            case If(cond=Const() as c):
                result += done.then if c.value else done.orelse
            case If(then=(), orelse=()):
                pass  # expressions are pure
            case If(then=(), orelse=orelse):
                flipped = _fold(Unary(UnaryOp.NOT, done.cond, BOOL, done.cond.span))
                result.append(If(flipped, orelse, (), done.span))
            case While(cond=Const(value=False)):
                pass
            case Block():
                inner = _drop_tail_leaves(done.body, frozenset({done.label}))
                if any(isinstance(s, Leave) and s.label == done.label for s in walk_stmts(inner)):
                    result.append(replace(done, body=inner))
                else:
                    result += inner
            case _:
                result.append(done)
        if isinstance(result[-1] if result else None, Leave):
            break  # the rest is unreachable
    return tuple(result)


def _drop_tail_leaves(body: tuple[Stmt, ...], labels: frozenset[str]) -> tuple[Stmt, ...]:
    """Drop ``leave`` of one of ``labels`` where control gets to the same place anyway."""
    if not body:
        return body
    *head, last = body
    match last:
        case Leave() if last.label in labels:
            return _drop_tail_leaves(tuple(head), labels)
        case If():
            then = _drop_tail_leaves(last.then, labels)
            orelse = _drop_tail_leaves(last.orelse, labels)
            if not then and not orelse:
                return _drop_tail_leaves(tuple(head), labels)
            if not then:
                flipped = _fold(Unary(UnaryOp.NOT, last.cond, BOOL, last.cond.span))
                return (*head, If(flipped, orelse, (), last.span))
            return (*head, replace(last, then=then, orelse=orelse))
        case Block():
            inner = _drop_tail_leaves(last.body, labels | {last.label})
            if any(isinstance(s, Leave) and s.label == last.label for s in walk_stmts(inner)):
                return (*head, replace(last, body=inner))
            return _drop_tail_leaves((*head, *inner), labels)
        case For() | While() | Loop() | Contraction() | _:
            return body
