"""Affine forms, delinearisation and the dependence test, on expressions built by hand."""

from __future__ import annotations

import pytest

from hipify_tile.analyzer.affine import (
    Obligation,
    Polynomial,
    delinearize,
    integer_form,
    obligation_conditions,
)
from hipify_tile.analyzer.dependence import Dependent, Independent, independent, injective
from hipify_tile.ir.expr import Binary, BinaryOp, Call, Cast, Const, Load, Var
from hipify_tile.ir.simt import Buffer, Scope
from hipify_tile.ir.stmt import Axis, AxisKind, If, Store
from hipify_tile.ir.types import BOOL, F32, I32, I64, U32
from hipify_tile.verify.evaluate import evaluate

ROW, COL, N = Var("row", I32), Var("col", I32), Var("n", I32)
TYPES = {"row": I32, "col": I32, "n": I32, "m": I32}


def _op(op: BinaryOp, a, b):
    return Binary(op, a, b, a.type)


def _flat(pitch=N):
    return _op(BinaryOp.ADD, _op(BinaryOp.MUL, ROW, pitch), COL)


def _axes(rows, cols):
    return [Axis(ROW, rows, AxisKind.PARALLEL), Axis(COL, cols, AxisKind.PARALLEL)]


def test_a_symbolic_coefficient():
    form = integer_form(_flat())
    assert form.value == Polynomial.of({("n", "row"): 1, ("col",): 1})
    assert form.obligations == (Obligation(form.value, I32),)


def test_a_widening_cast_obliges_the_narrow_value():
    wrapped = Cast(_op(BinaryOp.SUB, Cast(COL, U32), Const(1, U32)), I64)
    form = integer_form(wrapped)
    assert Obligation(Polynomial.of({("col",): 1, (): -1}), U32) in form.obligations


@pytest.mark.parametrize("op", [BinaryOp.DIV, BinaryOp.REM, BinaryOp.SHR, BinaryOp.XOR])
def test_no_form(op):
    assert integer_form(_op(op, ROW, N)) is None


def test_no_form_for_loads():
    assert integer_form(Load("map", (ROW,), I32)) is None


def test_delinearisation_orders_dimensions_by_stride():
    shape = delinearize(integer_form(_flat()).value, ["col", "row"])
    assert [d.axis for d in shape.dimensions] == ["row", "col"]
    assert shape.pitches == (("col", Polynomial.name("n")),)
    assert shape.offset == Polynomial()


@pytest.mark.parametrize(
    "access",
    [
        Polynomial.of({("row",): 1, ("col",): 1}),
        Polynomial.of({("row", "row"): 1, ("col",): 1}),
        Polynomial.of({("col", "row"): 1}),
        Polynomial.of({("row",): 3, ("col",): 2}),
        Polynomial.of({("row",): 1}),
    ],
)
def test_what_is_no_matrix(access):
    assert delinearize(access, ["row", "col"]) is None


def test_a_proven_pitch_needs_no_condition_and_an_unknown_one_does():
    proven = injective([_flat()], _axes(Var("m", I32), Call("min", (N, N), I32)), TYPES)
    open_ = injective([_flat(Const(64, I32))], _axes(Var("m", I32), N), TYPES)
    assert all(evaluate(c, {"n": 8, "m": 3}) for c in proven)
    assert all(evaluate(c, {"n": 64, "m": 3}) for c in open_)
    assert not all(evaluate(c, {"n": 65, "m": 3}) for c in open_)


def test_an_index_that_wraps_is_not_assumed_away():
    conditions = injective([_flat()], _axes(Var("m", I32), N), TYPES)
    assert not all(evaluate(c, {"n": 70_000, "m": 70_000}) for c in conditions)


def test_unknown_names_have_no_conditions():
    obligation = Obligation(Polynomial.name("mystery"), I32)
    assert obligation_conditions([obligation], _axes(N, N), TYPES) is None


def _buffer(name: str, **flags):
    return Buffer(name, F32, Scope.PARAM, **flags)


def _store(buffer: str, index, *loads: str):
    value = Const(1.0, F32)
    for name in loads:
        value = Binary(BinaryOp.ADD, value, Load(name, (index,), F32), F32)
    return Store(buffer, (index,), value)


AXIS = [Axis(COL, N, AxisKind.PARALLEL)]
NEXT = _op(BinaryOp.ADD, COL, Const(1, I32))


def _test(body, **restrict):
    buffers = {n: _buffer(n, restrict=restrict.get(n, False)) for n in "xyz"}
    return independent(body, AXIS, buffers, TYPES)


def test_in_place_and_neighbours_of_an_input_are_independent():
    assert isinstance(_test([_store("y", COL, "x", "y")]), Independent)
    read = Store("y", (COL,), Load("x", (NEXT,), F32))
    assert isinstance(_test([read]), Independent)


def test_a_shifted_read_of_the_output_is_a_dependence():
    assert isinstance(_test([Store("y", (COL,), Load("y", (NEXT,), F32))]), Dependent)


def test_one_element_for_all_is_a_dependence():
    assert isinstance(_test([_store("y", Const(0, I32))]), Dependent)
    assert isinstance(_test([_store("y", Load("x", (COL,), I32))]), Dependent)


def test_a_load_after_a_store_that_may_alias_is_a_dependence_unless_restrict():
    body = [_store("y", COL, "x"), _store("z", COL, "x")]
    assert isinstance(_test(body), Dependent)
    assert isinstance(_test(body, x=True), Independent)


def test_exclusive_branches_do_not_follow_one_another():
    flag = Var("flag", BOOL)
    body = [If(flag, (_store("y", COL, "x"),), (_store("y", COL, "z"),))]
    assert isinstance(_test(body), Independent)
