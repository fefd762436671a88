"""The parts of verification: evaluation, comparison, contents, roles, isolation."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Index,
    IndexKind,
    Load,
    Logical,
    LogicalOp,
    Var,
)
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Assign, AtomicOp, AtomicRMW, For, If, Store
from hipify_tile.ir.types import ALL_TYPES, BOOL, F32, F64, I8, I32, U32, U64
from hipify_tile.verify.compare import compare
from hipify_tile.verify.contents import PROFILES, draw, draw_indices
from hipify_tile.verify.evaluate import UnevaluableError, evaluate, wrap
from hipify_tile.verify.inputs import CaseSearch, Ran
from hipify_tile.verify.isolate import Lost, isolated
from hipify_tile.verify.roles import roles_of
from hipify_tile.verify.shapes import LaunchSource


@pytest.mark.parametrize(
    ("op", "a", "b", "dtype", "expected"),
    [
        (BinaryOp.DIV, -7, 2, I32, -3),
        (BinaryOp.REM, -7, 2, I32, -1),
        (BinaryOp.SUB, 0, 1, U32, 2**32 - 1),
        (BinaryOp.MUL, 2**30, 4, I32, 0),
        (BinaryOp.ADD, 2**31 - 1, 1, I32, -(2**31)),
        (BinaryOp.SHR, -8, 1, I32, -4),
    ],
)
def test_integer_arithmetic_is_c(op, a, b, dtype, expected):
    assert evaluate(Binary(op, Const(a, dtype), Const(b, dtype), dtype), {}) == expected


def test_no_value_without_name_or_divisor():
    with pytest.raises(UnevaluableError):
        evaluate(Var("n", I32), {})
    with pytest.raises(UnevaluableError):
        evaluate(Binary(BinaryOp.DIV, Const(1, I32), Const(0, I32), I32), {})


def test_casts_wrap_and_round():
    assert wrap(200, I8) == -56
    assert wrap(-1, U32) == 2**32 - 1
    assert wrap(0.1, F32) == float(np.float32(0.1))


def test_comparison_is_bit_exact_but_for_nan():
    nan = np.array([np.nan, 1.0], np.float32)
    payload = nan.view(np.uint32).copy()
    payload[0] ^= 1 << 31 | 5
    assert compare({"a": nan}, {"a": payload.view(np.float32)}).difference is None
    zero = np.array([0.0], np.float32)
    assert compare({"a": zero}, {"a": -zero}).difference is not None
    found = compare({"a": np.arange(4)}, {"a": np.array([0, 1, 9, 9])}, {"a": 1}).difference
    assert found is not None and (found.index, found.expected, found.got) == (1, "2", "9")


def test_bound_excuses_rounding_only():
    want, have = np.array([1.0, np.nan]), np.array([1.0 + 1e-9, 1.0])
    bounds = {"a": np.array([1e-8, 1e-8])}
    assert (
        compare({"a": want[:1]}, {"a": have[:1]}, bounds={"a": bounds["a"][:1]}).difference is None
    )
    assert compare({"a": want}, {"a": have}, bounds=bounds).difference.index == 1


def test_other_buffers_are_an_error():
    with pytest.raises(ValueError, match="different buffers"):
        compare({"a": np.zeros(1)}, {})


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
@pytest.mark.parametrize("profile", PROFILES)
def test_contents_have_the_type_and_the_seed_decides(dtype, profile):
    first = draw(dtype, 500, profile, np.random.default_rng(3))
    again = draw(dtype, 500, profile, np.random.default_rng(3))
    assert first.nbytes == 500 * dtype.bytes
    assert compare({"a": first}, {"a": again}).difference is None
    if dtype.is_float:
        odd = ~np.isfinite(first.astype(np.float64))
        assert odd.any() == (profile == "special")


def test_indices_stay_below_the_limit():
    values = draw_indices(I32, 100, 7, True, np.random.default_rng(0))
    assert values.min() == 0 and values.max() < 7 and (np.diff(values) >= 0).all()


def test_indices_of_64_bits_are_drawn():
    values = draw_indices(U64, 50, 9, False, np.random.default_rng(0))
    assert values.dtype == np.uint64 and values.max() < 9


def test_an_unsigned_scalar_held_against_a_float_is_drawn():
    kernel, _ = _testing(Compare(CompareOp.GT, Var("n", U32), Const(0.0, F64)), n=U32)
    for seed in range(5):
        source = LaunchSource(kernel, roles_of(kernel), [], np.random.default_rng(seed))
        assert all(x.scalars["n"] >= 0 for x, _ in zip(source, range(40), strict=False))


def test_roles_of_a_sparse_product():
    i, j, n = Var("i", I32), Var("j", I32), Var("n", I32)
    col = Load("col", (j,), I32)
    start = Load("row", (i,), I32)
    stop = Load("row", (Binary(BinaryOp.ADD, i, Const(1, I32), I32),), I32)
    add = AtomicRMW(AtomicOp.ADD, "y", (i,), (Load("x", (col,), F32),))
    body = (
        Assign("i", Cast(Index(IndexKind.THREAD, 0, U32), I32)),
        For(j, start, stop, 1, (add,), "l"),
        Store("z", (Binary(BinaryOp.MUL, i, n, I32),), Load("y", (i,), F32)),
    )  # fmt: skip
    params = [Param(b, F32 if b in "xyz" else I32, k, pointer=True) for k, b in enumerate(
        ("row", "col", "x", "y", "z"))]  # fmt: skip
    buffers = tuple(Buffer(p.name, p.dtype, Scope.PARAM, written=p.name in "yz") for p in params)
    kernel = Kernel(
        "k", "k", (*params, Param("n", I32, 5)), (8,) * 5 + (4,), buffers, (("i", I32),), body
    )
    roles = roles_of(kernel)
    assert "" in roles.index_of["row"] and roles.index_of["col"] == {"x"}
    assert roles.sizes == {"n"}
    assert roles.float_atomics == {"y", "z"}


def test_isolated_answers_and_losses():
    assert isolated(lambda: 41 + 1, 10) == 42
    died = isolated(lambda: os.kill(os.getpid(), signal.SIGKILL), 10)
    assert died == Lost(f"signal {int(signal.SIGKILL)}")
    assert isolated(lambda: time.sleep(30), 0.3, patience=1) == Lost("stalled")


def test_isolated_counts_work_and_not_waiting():
    def spin():
        while True:
            pass

    def wait():
        time.sleep(1.0)
        return 7

    assert isolated(spin, 0.3, patience=100) == Lost("timeout")
    assert isolated(wait, 0.3) == 7
    failed = isolated(lambda: 1 // 0, 10)
    assert isinstance(failed, Lost) and "ZeroDivisionError" in failed.error


def test_isolated_carries_large_answers():
    answer = isolated(lambda: b"x" * 3_000_000, 10)
    assert isinstance(answer, bytes) and len(answer) == 3_000_000


def test_a_starting_value_of_the_block_is_not_the_only_block_tried():
    kernel = Kernel("k", "k", (Param("n", I32, 0),), (4,), (), (), ())
    one = Const(1, U32)
    fact = LaunchFact(
        "", "k", Span("k.cu", 1, 1, 0, 1), (one, one, one), (Var("threads", U32), one, one), None,
        "", (Var("n", I32),), (("threads", 1), ("n", 20)),
    )  # fmt: skip
    source = iter(LaunchSource(kernel, roles_of(kernel), [fact], np.random.default_rng(0)))
    launches = [next(source) for _ in range(30)]
    assert any(x.block[0] > 1 for x in launches)
    assert all(x.block[0] == 1 for x in launches if x.real), "a guess must not accuse the original"


def _testing(test, **scalars):
    """A kernel of ``scalars`` that makes the test, launched once with variables of their names."""
    params = tuple(Param(n, dtype, i) for i, (n, dtype) in enumerate(scalars.items()))
    sizes = tuple(p.dtype.bytes for p in params)
    kernel = Kernel("k", "k", params, sizes, (), (), (If(test, ()),))
    one = Const(1, U32)
    arguments = tuple(Var(p.name, p.dtype) for p in params)
    span = Span("k.cu", 1, 1, 0, 1)
    fact = LaunchFact("", "k", span, (one, one, one), (one, one, one), None, "", arguments)
    return kernel, fact


@pytest.mark.parametrize("sited", [False, True])
@pytest.mark.parametrize(
    ("test", "sides"),
    [
        (
            Compare(CompareOp.GT, Var("flag", I32), Const(0, I32)),
            (range(-4, 0), [0], range(1, 300)),
        ),
        (Compare(CompareOp.NE, Cast(Var("flag", I32), I32), Const(0, I32)), ([0],)),
        (
            Compare(CompareOp.LT, Const(-9, I32), Var("flag", I32)),
            (range(-12, -9), [-9], range(-8, 300)),
        ),
        (
            Compare(
                CompareOp.EQ,
                Binary(BinaryOp.SUB, Var("flag", I32), Const(3, I32), I32),
                Const(9000, I32),
            ),
            (range(9003), [9003], [9004]),
        ),
        (
            Compare(
                CompareOp.NE,
                Binary(BinaryOp.AND, Var("flag", I32), Const(1024, I32), I32),
                Const(0, I32),
            ),
            (range(1024), range(1024, 2048)),
        ),
    ],
)
def test_the_first_launches_are_on_both_sides_of_a_test(test, sides, sited):
    kernel, fact = _testing(test, flag=I32)
    facts = [fact] if sited else []
    for seed in range(5):
        source = LaunchSource(kernel, roles_of(kernel), facts, np.random.default_rng(seed))
        flags = [x.scalars["flag"] for x, _ in zip(source, range(12), strict=False)]
        assert all(any(flag in side for flag in flags) for side in sides), flags


def test_a_gap_asks_for_every_case_of_a_switch():
    cases = [Compare(CompareOp.EQ, Var("mode", I32), Const(100 * c, I32)) for c in range(5)]
    test = cases[0]
    for case in cases[1:]:
        test = Logical(LogicalOp.OR, test, case)
    kernel, fact = _testing(test, mode=I32, flip=BOOL)
    source = LaunchSource(kernel, roles_of(kernel), [fact], np.random.default_rng(0))
    launches = iter(source)
    seen = {next(launches).scalars["mode"] for _ in range(12)}
    source.insist()
    drawn = [next(launches) for _ in range(20)]
    assert {100 * c for c in range(5)} <= seen | {x.scalars["mode"] for x in drawn}
    assert {x.scalars["flip"] for x in drawn} == {False, True}
    assert all(not x.real for x in drawn if x.label.endswith("other side"))


def test_a_test_of_each_thread_does_not_steer_a_size():
    at = Cast(Index(IndexKind.THREAD, 0, U32), I32)
    test = Compare(CompareOp.LT, Binary(BinaryOp.ADD, at, Var("n", I32), I32), Const(7, I32))
    kernel, _ = _testing(test, n=I32)
    assert not roles_of(kernel).tested


def test_a_record_is_in_bounds_as_a_whole():
    """The compiler of the original may drop a component that the source copies unchanged."""
    p = Param("p", F32, 0, pointer=True, pointee_bytes=16)
    kernel = Kernel("k", "k", (p, Param("n", I32, 1)), (8, 4), (), (), ())

    class TouchesThree:
        def run(self, case, order="forward", poison=0):
            memory = case.memory["p"]
            if memory.data.size - memory.origin < 4 * 5 - 1:
                return Ran("out_of_bounds", "p", leaf="p", element=4 * 5 - 2)
            return Ran("ok", memory={"p": memory.data})

    search = iter(CaseSearch(kernel, roles_of(kernel), (), TouchesThree(), 0))
    case = next(c for c in search if c is not None)
    assert case.memory["p"].data.size == 20
