"""Interval analysis: sound on random expressions, and exact enough on loops of launch indices."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hipify_tile.analyzer.value_ranges import interval, local_ranges, may_wrap, type_range
from hipify_tile.ir.arithmetic import wrap
from hipify_tile.ir.expr import Binary, BinaryOp, Cast, Compare, CompareOp, Const, Expr, Select, Var
from hipify_tile.ir.stmt import Assign, For, While
from hipify_tile.ir.types import I32, I64, U32, ScalarType

_RANGES = {"a": (0, 1023), "b": (1, 1024), "c": (0, 2**31 - 2), "d": (-5, 7)}


def _value(expr: Expr, env: dict[str, int]) -> int | None:
    """Evaluate with wrap-around; None where C leaves the value undefined."""
    match expr:
        case Const(value=value):
            return int(value)
        case Var(name=name):
            return env[name]
        case Cast(operand=inner, type=type_):
            value = _value(inner, env)
            return None if value is None else wrap(value, type_)
        case Select(cond=Compare(lhs=lhs, rhs=rhs), then=then, orelse=orelse):
            x, y = _value(lhs, env), _value(rhs, env)
            if x is None or y is None:
                return None
            return _value(then if x < y else orelse, env)
        case Binary(op=op, lhs=lhs, rhs=rhs, type=type_):
            x, y = _value(lhs, env), _value(rhs, env)
            if x is None or y is None:
                return None
            if op in (BinaryOp.DIV, BinaryOp.REM):
                if y == 0:
                    return None
                quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
                exact = quotient if op is BinaryOp.DIV else x - quotient * y
            elif op in (BinaryOp.SHL, BinaryOp.SHR):
                if not 0 <= y < type_.bits:
                    return None
                exact = x << y if op is BinaryOp.SHL else x >> y
            else:
                exact = {
                    BinaryOp.ADD: x + y, BinaryOp.SUB: x - y, BinaryOp.MUL: x * y,
                    BinaryOp.AND: x & y, BinaryOp.OR: x | y, BinaryOp.XOR: x ^ y,
                }[op]  # fmt: skip
            return wrap(exact, type_)
        case _:
            raise AssertionError(expr)


def _exprs(type_: ScalarType) -> st.SearchStrategy[Expr]:
    small = st.integers(0, 2**31 - 1) if type_ != I64 else st.integers(-(2**40), 2**40)
    leaves = st.one_of(
        st.builds(lambda v: Const(v, type_), st.one_of(st.integers(0, 33), small)),
        st.sampled_from(sorted(_RANGES)).map(lambda n: Cast(Var(n, I32), type_)),
    )

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.one_of(
            st.builds(
                lambda op, x, y: Binary(op, x, y, type_), st.sampled_from(BinaryOp), inner, inner
            ),
            st.builds(lambda x, y: Select(Compare(CompareOp.LT, x, y), x, y, type_), inner, inner),
            inner.map(lambda e: Cast(Cast(e, I32), type_)),
        )

    return st.recursive(leaves, grow, max_leaves=6)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from([U32, I32, I64]).flatmap(_exprs), st.data())
def test_every_value_lies_in_its_interval(expr: Expr, data: st.DataObject) -> None:
    env = {n: data.draw(st.one_of(st.integers(*r), st.sampled_from(r))) for n, r in _RANGES.items()}
    value = _value(expr, env)
    if value is None:
        return
    low, high = interval(expr, _RANGES)
    assert low <= value <= high


def test_halving_loop_and_counted_loop() -> None:
    s, k = Var("s", U32), Var("k", I32)
    halve = Assign("s", Binary(BinaryOp.SHR, s, Const(1, U32), U32))
    start = Binary(BinaryOp.DIV, Cast(Var("b", I32), U32), Const(2, U32), U32)
    body = (
        Assign("s", start),
        While(Compare(CompareOp.GT, s, Const(0, U32)), (halve,), "w"),
        For(k, Const(3, I32), Var("b", I32), 4, (Assign("m", k),), "f"),
    )
    ranges = local_ranges(body, (("s", U32), ("k", I32), ("m", I32)), _RANGES)
    assert (ranges["s"], ranges["k"], ranges["m"]) == ((0, 512), (3, 1023), (3, 1023))


def test_growing_local_has_its_types_range() -> None:
    i = Var("i", U32)
    step = Assign("i", Binary(BinaryOp.ADD, i, Cast(Var("b", I32), U32), U32))
    body = (
        Assign("i", Const(0, U32)),
        While(Compare(CompareOp.LT, i, Var("n", U32)), (step,), "w"),
    )
    ranges = local_ranges(body, (("i", U32),), _RANGES)
    assert ranges["i"] == type_range(U32)


def test_a_part_that_wraps_is_seen_though_the_value_is_small() -> None:
    product = Binary(BinaryOp.MUL, Cast(Var("c", I32), U32), Cast(Var("b", I32), U32), U32)
    masked = Binary(BinaryOp.AND, product, Const(255, U32), U32)
    assert interval(masked, _RANGES) == (0, 255)
    assert may_wrap(masked, _RANGES)
    assert not may_wrap(Cast(Var("a", I32), U32), _RANGES)
