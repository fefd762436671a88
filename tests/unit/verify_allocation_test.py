"""TM5009 for a launch that leaves its own allocation, for no other; TM5003 says what happened."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.ir.expr import Binary, BinaryOp, Const, Var
from hipify_tile.ir.types import F32, I32, I64, U32
from hipify_tile.verify.cases import Case
from hipify_tile.verify.inputs import Ran
from hipify_tile.verify.judge import Judge, Limits
from hipify_tile.verify.model import Outcome

_spec = importlib.util.spec_from_file_location(
    "verify_fakes", Path(__file__).with_name("verify_fakes.py")
)
assert _spec is not None and _spec.loader is not None
fakes = importlib.util.module_from_spec(_spec)
sys.modules["verify_fakes"] = fakes
_spec.loader.exec_module(fakes)

ONE = Const(1, U32)
N = Var("main:n", I32)


def floats(extra: int):
    """``(n + extra) * sizeof(float)``."""
    return Binary(BinaryOp.MUL, Binary(BinaryOp.ADD, N, Const(extra, I64), I64), Const(4, I64), I64)


def launch(extra_x: int, extra_y: int = 0, hints=(("main:n", 90),), **changes) -> LaunchFact:
    fact = LaunchFact(
        kernel_usr="", kernel_name="k", span=fakes._SPAN, grid=(Const(3, U32), ONE, ONE),
        block=(Const(32, U32), ONE, ONE), shared_bytes=None, stream="",
        arguments=(None, None, None, N), hints=hints,
        pointer_extents=(floats(extra_x), floats(extra_y), None, None),
        pointer_roots=("x", "y", "", ""), pointer_owned=(True, True, False, False),
    )  # fmt: skip
    return replace(fact, **changes)


def next_one(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.y[i] = t.x[i + 1]


def unguarded(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.y[i] = t.x[0]
    _ = t.y[i]


def beyond(body, *launches):
    found = fakes.judge(fakes.AXPY, body, body, launches=launches)
    return found, [d for d in found.diagnostics if d.code == "TM5009"]


def test_launch_beyond_its_allocation_is_reported_and_keeps_its_verdict():
    found, (why,) = beyond(next_one, launch(0))
    assert found.outcome is Outcome.VERIFIED
    assert why.headline == "this launch reaches beyond what x has"
    assert "the program allocates 90 elements" in why.notes[0]
    assert why.help == "allocate more for x, or guard the access in the kernel"


def test_launch_within_its_allocation_is_not_reported():
    assert beyond(next_one, launch(1))[1] == []
    assert beyond(unguarded, launch(0, 6))[1] == []
    assert len(beyond(unguarded, launch(0, 5))[1]) == 1


def test_each_site_is_judged_on_its_own():
    assert len(beyond(next_one, launch(1), launch(0), launch(2))[1]) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"hints": ()},  # a size that only the running program knows
        {"hints": (("main:n", 1),)},  # what a sum starts with
        {"arguments": (None, None, None, None)},  # an argument that is not understood
        {"grid": (None, ONE, ONE)},
        {"pointer_extents": (None, None, None, None)},
    ],
)
def test_what_the_source_does_not_state_is_not_reported(changes):
    assert beyond(next_one, launch(0, **changes))[1] == []


def test_small_size_counts_where_it_never_changes():
    small = launch(0, hints=(("main:n", 3),), settled=("main:n",))
    assert len(beyond(next_one, small)[1]) == 1


def test_buffer_that_is_indexed_with_loaded_values_is_not_judged():
    ir = fakes.kernel({"t": (I32, True), "y": (F32, True)}, {"n": I32}, index=("t",))
    fact = launch(0, -80, arguments=(None, None, N), pointer_extents=(floats(-80), None, None))
    body = next_of_table
    found = fakes.judge(ir, body, body, launches=[fact])
    assert [d.code for d in found.diagnostics if d.code == "TM5009"] == []


def next_of_table(t):
    i = t.bx * t.bdx + t.tx
    if i < t.n:
        t.y[i] = np.float32(t.t[i])


class Nowhere:
    """An original that always leaves ``x`` at one place, as the executor reports it."""

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        access = "thread (3,0,0) of block (1,0,0) reads x[7000000]"
        return Ran("out_of_bounds", "x", leaf="x", element=7000000, access=access)

    def race(self, case: Case) -> str:
        return ""


@pytest.mark.parametrize(
    ("loaded", "help"),
    [
        (False, "compare the index with the size of x before the access"),
        (True, "check the values of x before they index x"),
    ],
)
def test_no_inputs_names_thread_element_launch_and_what_to_do(loaded, help):
    index = ("x",) if loaded else ()
    ir = fakes.kernel({"x": (I32, True)}, {"n": I32}, index=index)
    fact = fakes.KernelFact("k.cu:k", "", "k", "k", "k", "_Z1k", (), "", fakes._SPAN, "", ir)
    judge = Judge(
        fact, ir, (), Nowhere(), [(fakes.emission(), fakes.Fake(next_one))],
        measure=lambda: fakes.FULL, limits=Limits(attempts=6),
    )  # fmt: skip
    (found,) = judge.judge().values()
    (why,) = found.diagnostics
    assert why.code == "TM5003"
    assert why.notes[0] == "6 attempts: out_of_bounds: x"
    assert "for example thread (3,0,0) of block (1,0,0) reads x[7000000]" in why.notes[1]
    assert "<<<(" in why.notes[1] and "elements" in why.notes[1]
    assert why.help == help
