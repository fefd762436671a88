"""Verdicts: a right rewrite verifies and each planted wrong one is rejected."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.ir.expr import Compare, CompareOp, Const, Var
from hipify_tile.ir.stmt import If
from hipify_tile.ir.types import BOOL, F32, I32, I64, U32
from hipify_tile.rewriter.model import Argument, ArgumentRole
from hipify_tile.verify.coverage import Coverage
from hipify_tile.verify.model import Outcome

_spec = importlib.util.spec_from_file_location(
    "verify_fakes", Path(__file__).with_name("verify_fakes.py")
)
assert _spec is not None and _spec.loader is not None
fakes = importlib.util.module_from_spec(_spec)
sys.modules["verify_fakes"] = fakes
_spec.loader.exec_module(fakes)


def codes(verification):
    return [d.code for d in verification.diagnostics]


def axpy(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.y[i] = np.float32(t.a) * t.x[i] + t.y[i]


def test_right_rewrite_verifies():
    found = fakes.judge(fakes.AXPY, axpy, axpy)
    assert found.outcome is Outcome.VERIFIED, found.diagnostics
    assert found.inputs >= 5 and found.max_abs_error == 0 and found.tolerance == 0


def last_dropped(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n - 1:
        axpy(t)


def first_dropped(t):
    if t.bx * t.bdx + t.tx > 0:
        axpy(t)


def one_more(t):
    i = t.bx * t.bdx + t.tx
    if i <= t.n:
        t.y[i] = np.float32(t.a) * t.x[i] + t.y[i]


def reads_before(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        _ = t.x[i - 1]
        axpy(t)


def covers_all(t):
    if t.bx == 0 and t.tx == 0:
        for i in range(t.n):
            t.y[i] = np.float32(t.a) * t.x[i] + t.y[i]


def other_rounding(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.y[i] = np.float32(np.float64(np.float32(t.a)) * t.x[i] + t.y[i])


def writes_input(t):
    axpy(t)
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.x[i] = t.x[i] + np.float32(1)


@pytest.mark.parametrize(
    "wrong",
    [last_dropped, first_dropped, one_more, reads_before, covers_all, other_rounding, writes_input],
)
def test_wrong_rewrite_is_a_mismatch(wrong):
    found = fakes.judge(fakes.AXPY, axpy, wrong)
    assert found.outcome is Outcome.MISMATCH
    assert codes(found) == ["TM5001"]


def test_a_case_that_differs_is_saved(tmp_path):
    found = fakes.judge(fakes.AXPY, axpy, last_dropped, save_failures=tmp_path)
    assert found.outcome is Outcome.MISMATCH
    (path,) = tmp_path.iterdir()
    assert path.name == "k.cu_k-loop.npz"
    with np.load(path) as saved:
        header = json.loads(str(saved["header"]))
        assert {"n", "a"} == header["scalars"].keys()
        assert saved["in:x"].dtype == np.float32
        assert not np.array_equal(saved["expected:y"], saved["got:y"], equal_nan=True)


def test_flipped_nan_comparison_is_a_mismatch():
    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})

    def original(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = np.float32(1) if t.x[i] < 1 else np.float32(2)

    def rewrite(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = np.float32(2) if t.x[i] >= 1 else np.float32(1)

    assert fakes.judge(ir, original, original).outcome is Outcome.VERIFIED
    assert fakes.judge(ir, original, rewrite).outcome is Outcome.MISMATCH


def test_unsigned_wrap_is_a_mismatch():
    ir = fakes.kernel({"x": (U32, False), "y": (U32, True)}, {"n": I32})

    def original(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = 1 if (int(t.x[i]) - 1) % 2**32 < int(t.x[i]) else 0

    def rewrite(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = 1

    assert fakes.judge(ir, original, rewrite).outcome is Outcome.MISMATCH


def neighbour(t):
    i = t.bx * t.bdx + t.tx
    t.s[t.tx] = t.x[i] if i < t.n else 0
    yield
    if i < t.n:
        t.y[i] = t.s[(t.tx + 1) % t.bdx]


def test_missing_barrier_is_a_mismatch():
    def rewrite(t):
        for _ in neighbour(t):
            pass

    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})
    assert fakes.judge(ir, neighbour, neighbour).outcome is Outcome.VERIFIED
    assert fakes.judge(ir, neighbour, rewrite).outcome is Outcome.MISMATCH


def test_race_in_the_original_is_not_verified():
    def race(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[0] = np.float32(i)

    found = fakes.judge(fakes.AXPY, race, race)
    assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5004"]


def test_uninitialised_shared_read_is_not_verified():
    def body(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = t.s[100]

    found = fakes.judge(fakes.AXPY, body, body)
    assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5004"]


def test_kernel_without_effect_is_not_observable():
    found = fakes.judge(fakes.AXPY, lambda t: None, lambda t: None)
    assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5007"]


def test_unreached_block_is_not_verified():
    found = fakes.judge(fakes.AXPY, axpy, axpy, coverage=Coverage(3, (("k.cu", 7),), ()))
    assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5007"]
    assert "k.cu:7" in found.diagnostics[0].notes[0]


def test_original_always_out_of_bounds_has_no_inputs():
    def wild(t):
        t.y[1 << 40] = np.float32(1)

    found = fakes.judge(fakes.AXPY, wild, wild)
    assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5003"]


def test_aliasing_that_matters_is_tried_unless_restrict_forbids_it():
    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32}, restrict=False)

    def original(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = t.x[i] * np.float32(2)
            t.y[i] = t.y[i] + t.x[i]

    def cached(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            x = t.x[i]
            t.y[i] = x * np.float32(2) + x

    assert fakes.judge(ir, original, cached).outcome is Outcome.MISMATCH
    promised = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})
    assert fakes.judge(promised, original, cached).outcome is Outcome.VERIFIED


def total(t):
    """A sum whose terms may be added in another order: stated as a tolerance."""
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        s = np.float32(0)
        for k in range(t.n):
            s = s + t.x[k]
        t.y[i] = s


def test_named_tolerance_allows_rounding_and_nothing_more():
    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})

    def backwards(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            s = np.float32(0)
            for k in reversed(range(t.n)):
                s = s + t.x[k]
            t.y[i] = s

    def short(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            s = np.float32(0)
            for k in range(t.n - 1):
                s = s + t.x[k]
            t.y[i] = s

    assert fakes.judge(ir, total, backwards).outcome is Outcome.MISMATCH
    found = fakes.judge(ir, total, backwards, tolerance="reassociated sum")
    assert found.outcome is Outcome.VERIFIED
    assert found.max_abs_error > 0 and 0 < found.tolerance < 1
    assert fakes.judge(ir, total, short, tolerance="reassociated sum").outcome is Outcome.MISMATCH


def shifted_launch(offset):
    zero = Const(0, I64)
    one = Const(1, U32)
    return LaunchFact(
        "", "k", fakes._SPAN, (Const(3, U32), one, one), (Const(32, U32), one, one), None, "",
        (None, None, Var("n", I32)), (("n", 90),), (None, None), ("a", "a"), (zero, offset),
    )  # fmt: skip


def from_the_left(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.y[i] = t.x[i] + np.float32(1)


def in_parallel(t):
    """All loads before all stores, as a tile program does: no thread sees another's store."""
    i = t.bx * t.bdx + t.tx
    value = t.x[i] if i < t.n else None
    yield
    if i < t.n:
        t.y[i] = value + np.float32(1)


def test_overlap_of_a_launch_is_among_its_cases():
    for restrict in (False, True):
        ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32}, restrict=restrict)
        found = fakes.judge(
            ir, from_the_left, in_parallel, launches=[shifted_launch(Const(4, I64))]
        )
        assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5004"]
        same = fakes.judge(ir, from_the_left, in_parallel, launches=[shifted_launch(Const(0, I64))])
        assert same.outcome is Outcome.VERIFIED, same.diagnostics
        assert any("y=x+0B" in c for c in same.cases)


def test_a_launch_that_breaks_an_assumption_is_not_verified():
    def plain(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = t.x[i]

    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})
    launch = shifted_launch(None)
    for axis, outcome in (("z", Outcome.VERIFIED), ("x", Outcome.UNVERIFIED)):
        alone = Compare(CompareOp.EQ, Var(f"grid_{axis}", I32), Const(1, I32), BOOL)
        found = fakes.judge(ir, plain, plain, launches=[launch], assumes=(alone,))
        assert found.outcome is outcome, found
    assert codes(found) == ["TM5007"]
    assert "level loop is exact where grid_x == 1" in found.diagnostics[0].notes


def test_a_condition_on_scalars_is_held_against_launch_sites_and_cases():
    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})
    launch = shifted_launch(None)  # with n = 90
    for most, outcome in ((100, Outcome.VERIFIED), (89, Outcome.UNVERIFIED)):
        small = Compare(CompareOp.LE, Var("n", I32), Const(most, I32), BOOL)
        found = fakes.judge(ir, from_the_left, from_the_left, launches=[launch], assumes=(small,))
        assert found.outcome is outcome, found
    assert codes(found) == ["TM5007"]
    assert found.diagnostics[0].notes == (
        "level loop is exact where n <= 89",
        "a launch of the program is not so: k.cu:1",
    )
    never = Compare(CompareOp.GT, Var("n", I32), Const(1 << 30, I32), BOOL)
    found = fakes.judge(ir, from_the_left, from_the_left, assumes=(never,))
    assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5007"]
    assert "an assumed launch condition does not hold: n > 1073741824" in str(found.diagnostics)


def test_elements_with_infinite_error_bounds_are_no_evidence():
    ir = fakes.kernel({"x": (F32, False), "y": (F32, True), "z": (F32, True)}, {"n": I32})

    def overflows(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = np.float32(np.inf)

    def zero(t):
        i = t.bx * t.bdx + t.tx
        if i < t.n:
            t.y[i] = np.float32(0)

    def also(body):
        def both(t):
            body(t)
            i = t.bx * t.bdx + t.tx
            if i < t.n:
                t.z[i] = np.float32(i)

        return both

    alone = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})
    for kernel, original, rewrite in (
        (alone, overflows, zero),
        (ir, also(overflows), also(zero)),
    ):
        found = fakes.judge(kernel, original, rewrite, tolerance="reassociated sum")
        assert found.outcome is Outcome.UNVERIFIED and codes(found) == ["TM5007"], found
    assert found.diagnostics[0].notes[0] == "no case that could be compared changes y"


def test_shapes_too_large_to_build_are_refused():
    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32})
    for count, outcome in ((1 << 16, Outcome.VERIFIED), (1 << 40, Outcome.UNVERIFIED)):
        argument = Argument(
            "x", ArgumentRole.BUFFER, "float32", "x", shape=(Const(count, I64), Const(1, I64))
        )
        found = fakes.judge(ir, from_the_left, from_the_left, arguments=(argument,))
        assert found.outcome is outcome, found
    assert codes(found) == ["TM5007"] and "more than 64 MiB" in str(found.diagnostics)


def test_a_store_behind_one_of_many_tests_is_found():
    def stores_once(t):
        if t.bx == 0 and t.tx == 0:
            t.y[0] = np.float32(t.mode)
            if t.mode == 7000:
                t.z[0] = np.float32(1)

    ir = fakes.kernel({"y": (F32, True), "z": (F32, True)}, {"mode": I32})
    tests = tuple(
        If(Compare(CompareOp.EQ, Var("mode", I32), Const(1000 * c, I32)), ()) for c in range(8)
    )
    found = fakes.judge(replace(ir, body=(*tests, *ir.body)), stores_once, stores_once)
    assert found.outcome is Outcome.VERIFIED, found.diagnostics
    assert any("mode=7000" in case for case in found.cases)


def test_overlap_at_an_unknown_place_is_tried():
    def serial(t):
        if t.bx == 0 and t.tx == 0:
            for i in range(t.n):
                t.y[i] = t.x[i] + np.float32(1)

    def loads_first(t):
        if t.bx == 0 and t.tx == 0:
            loaded = [t.x[i] for i in range(t.n)]
            for i, value in enumerate(loaded):
                t.y[i] = value + np.float32(1)

    ir = fakes.kernel({"x": (F32, False), "y": (F32, True)}, {"n": I32}, restrict=False)
    for launches in ([], [shifted_launch(None)]):
        found = fakes.judge(ir, serial, loads_first, launches=launches)
        assert found.outcome is Outcome.MISMATCH, found


def test_time_to_build_a_rewrite_does_not_shorten_the_search():
    built = []

    def plus_one(t):
        if t.bx == 0 and t.tx == 0 and t.n > 0:
            t.y[0] = t.y[0] + np.float32(1)

    def slow_at_first(t):
        if not built:
            built.append(True)
            end = time.process_time() + 2 * fakes.SECONDS
            while time.process_time() < end:
                pass
        plus_one(t)

    kernel = fakes.kernel({"y": (F32, True)}, {"n": I32})
    found = fakes.judge(kernel, plus_one, slow_at_first)
    assert found.outcome is Outcome.VERIFIED, found.diagnostics
