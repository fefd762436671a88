"""Barrier distribution: executed on target c against numpy."""

import numpy as np
import pytest

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
    Var,
)  # fmt: skip
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicOp,
    AtomicRMW,
    Barrier,
    Block,
    For,
    If,
    Leave,
    Store,
    While,
    walk_stmts,
)  # fmt: skip
from hipify_tile.ir.types import BOOL, F32, I32, U32
from hipify_tile.ir.verify import violations
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import LOOP, emit_levels

ADD, SUB, MUL = BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL


def index(kind, axis=0):
    return Cast(Index(kind, axis, U32), I32)


TX, TY = index(IndexKind.THREAD), index(IndexKind.THREAD, 1)
BX, BY = index(IndexKind.BLOCK), index(IndexKind.BLOCK, 1)
BD = index(IndexKind.BLOCK_DIM)
I, N, S, ACC = Var("i", I32), Var("n", I32), Var("s", I32), Var("acc", F32)  # noqa: E741
GLOBAL_INDEX = Cast(
    Binary(
        ADD,
        Binary(MUL, Index(IndexKind.BLOCK, 0, U32), Index(IndexKind.BLOCK_DIM, 0, U32), U32),
        Index(IndexKind.THREAD, 0, U32),
        U32,
    ),
    I32,
)


def num(value):
    return Const(value, I32)


def add(a, b, type_=I32):
    return Binary(ADD, a, b, type_)


def less(a, b):
    return Compare(CompareOp.LT, a, b)


def kernel(body, locals_, buffers=(), name="k"):
    params = (
        Param("n", I32, 0),
        Param("x", F32, 1, pointer=True, const=True),
        Param("y", F32, 2, pointer=True),
    )
    outer = (
        Buffer("x", F32, Scope.PARAM, storage="x"),
        Buffer("y", F32, Scope.PARAM, storage="y", written=True),
    )
    made = Kernel(name, f"_Z{name}", params, (4, 8, 8), (*outer, *buffers), locals_, tuple(body))
    assert violations(made) == []
    return made


SHARED = Buffer("sh", F32, Scope.SHARED, (256,), written=True)


def sh(i):
    return Load("sh", (i,), F32)


def x(i):
    return Load("x", (i,), F32)


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n).astype(np.float32), np.zeros(n, np.float32)


def tree_reduction(shared):
    half = Binary(BinaryOp.SHR, S, num(1), I32)
    return kernel(
        (
            Assign("i", GLOBAL_INDEX),
            If(less(I, N), (Store("sh", (TX,), x(I)),), (Store("sh", (TX,), Const(0.0, F32)),)),
            Barrier(),
            Assign("s", Binary(BinaryOp.DIV, BD, num(2), I32)),
            While(
                Compare(CompareOp.GT, S, num(0)),
                (
                    If(less(TX, S), (Store("sh", (TX,), add(sh(TX), sh(add(TX, S)), F32)),)),
                    Barrier(),
                    Assign("s", half),
                ),
                "w",
            ),
            If(Compare(CompareOp.EQ, TX, num(0)), (Store("y", (BX,), sh(num(0))),)),
        ),
        (("i", I32), ("s", I32)),
        (shared,),
    )


def tree_expected(xs, n, block):
    padded = np.zeros(-(-n // block) * block, np.float32)
    padded[:n] = xs[:n]
    rows = padded.reshape(-1, block).copy()
    s = block // 2
    while s:
        rows[:, :s] = rows[:, :s] + rows[:, s : 2 * s]
        s //= 2
    return rows[:, 0]


@pytest.mark.parametrize("dynamic", [False, True])
def test_tree_reduction(execution, dynamic):
    shared = Buffer("sh", F32, Scope.DYNAMIC_SHARED, written=True) if dynamic else SHARED
    k = tree_reduction(shared)
    nest = LOOP.run(k)
    assert violations(nest) == []
    assert dict(nest.block_locals) == {"s": I32}
    xs, ys = data(300)
    execution.tilelang(k, (5, 1, 1), (64, 1, 1), {"n": 300, "x": xs, "y": ys}, shared_bytes=256 * 4)
    np.testing.assert_array_equal(ys[:5], tree_expected(xs, 300, 64))


def test_guard_return_before_a_barrier(execution):
    k = kernel(
        (
            Assign("i", GLOBAL_INDEX),
            If(Compare(CompareOp.GE, I, N), (Leave(KERNEL),)),
            Store("sh", (TX,), x(I)),
            Barrier(),
            Store("y", (I,), sh(Binary(BinaryOp.XOR, TX, num(1), I32))),
        ),
        (("i", I32),),
        (SHARED,),
    )
    xs, ys = data(128)
    execution.tilelang(k, (2, 1, 1), (64, 1, 1), {"n": 100, "x": xs, "y": ys})
    expected = xs.reshape(-1, 2)[:, ::-1].reshape(-1).copy()
    expected[100:] = 0
    np.testing.assert_array_equal(ys, expected)


def test_values_that_live_across_barriers(execution):
    """acc is carried through a loop with barriers; the tile size is a literal."""
    t, k_ = Var("t", I32), Var("k", I32)
    body = (
        Assign("i", GLOBAL_INDEX),
        Assign("acc", Const(0.0, F32)),
        For(
            t, num(0), Binary(BinaryOp.DIV, N, num(16), I32), 1,
            (
                Store("sh", (TX,), x(add(Binary(MUL, t, num(16), I32), TX))),
                Barrier(),
                For(
                    k_, num(0), num(16), 1,
                    (Assign("acc", add(ACC, Binary(MUL, sh(k_), x(I), F32), F32)),), "inner",
                ),
                Barrier(),
            ),
            "tiles",
        ),
        Store("y", (I,), ACC),
    )  # fmt: skip
    k = kernel(body, (("i", I32), ("acc", F32), ("t", I32), ("k", I32)), (SHARED,))
    nest = LOOP.run(k)
    assert violations(nest) == []
    expanded = [b.name for b in nest.buffers if b.scope is Scope.BLOCK_LOCAL]
    assert expanded == ["acc_all"]
    xs, ys = data(64)
    execution.tilelang(k, (4, 1, 1), (16, 1, 1), {"n": 64, "x": xs, "y": ys})
    acc = np.zeros(64, np.float32)
    for j in range(64):
        acc = acc + xs[j] * xs
    np.testing.assert_array_equal(ys, acc)


def test_local_array_across_a_barrier(execution):
    arr = Buffer("arr", F32, Scope.LOCAL, (2,), written=True)
    k = kernel(
        (
            Assign("i", GLOBAL_INDEX),
            Store("arr", (num(0),), x(I)),
            Store("arr", (num(1),), Binary(MUL, x(I), Const(2.0, F32), F32)),
            Store("sh", (TX,), Load("arr", (num(0),), F32)),
            Barrier(),
            Store(
                "y", (I,),
                add(Load("arr", (num(1),), F32), sh(Binary(SUB, num(31), TX, I32)), F32),
            ),
        ),
        (("i", I32),),
        (SHARED, arr),
    )  # fmt: skip
    xs, ys = data(64)
    execution.tilelang(k, (2, 1, 1), (32, 1, 1), {"n": 64, "x": xs, "y": ys})
    flipped = xs.reshape(2, 32)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(ys, xs * np.float32(2) + flipped)


def test_transposed_tile_in_two_dimensions(execution):
    tile = Buffer("tile", F32, Scope.SHARED, (8, 9), written=True)
    row = add(Binary(MUL, BY, num(8), I32), TY)
    col = add(Binary(MUL, BX, num(8), I32), TX)
    out_row = add(Binary(MUL, BX, num(8), I32), TY)
    out_col = add(Binary(MUL, BY, num(8), I32), TX)
    k = kernel(
        (
            Store("tile", (TY, TX), x(add(Binary(MUL, row, N, I32), col))),
            Barrier(),
            Store("y", (add(Binary(MUL, out_row, N, I32), out_col),), Load("tile", (TX, TY), F32)),
        ),
        (),
        (tile,),
    )
    xs, ys = data(16 * 16)
    execution.tilelang(k, (2, 2, 1), (8, 8, 1), {"n": 16, "x": xs, "y": ys})
    np.testing.assert_array_equal(ys.reshape(16, 16), xs.reshape(16, 16).T)


def test_uniform_break_out_of_a_loop_with_a_barrier(execution):
    k = kernel(
        (
            Assign("s", num(0)),
            Assign("go", Const(True, BOOL)),
            While(
                Var("go", BOOL),
                (
                    Block(
                        "again",
                        (
                            AtomicRMW(AtomicOp.ADD, "sh", (num(0),), (Const(1.0, F32),)),
                            Barrier(),
                            Assign("s", add(S, num(1))),
                            If(Compare(CompareOp.EQ, S, num(2)), (Leave("again"),)),
                            If(Compare(CompareOp.GE, S, N), (Leave("w"),)),
                            Store("y", (TX,), Cast(S, F32)),
                            Barrier(),
                        ),
                    ),
                ),
                "w",
            ),
        ),
        (("s", I32), ("go", BOOL)),
        (SHARED,),
    )
    xs, ys = data(8)
    execution.tilelang(k, (1, 1, 1), (8, 1, 1), {"n": 5, "x": xs, "y": ys})
    assert (ys == 4).all()


def span(line):
    return Span("k.cu", line, 1, 0, 1)


def test_divergent_barrier_is_refused_with_its_cause():
    condition = less(Cast(Index(IndexKind.THREAD, 0, U32, span(3)), I32), num(16))
    k = kernel((If(condition, (Barrier(span(4)),), span=span(3)),), ())
    (result,) = emit_levels(k, levels=(Level.LOOP,))
    assert result.emission is None
    (found,) = result.diagnostics
    assert found.code == "TM1204"
    assert found.span == span(4)
    assert [(x.span.line, x.text) for x in found.labels] == [
        (3, "under this condition"),
        (3, "threadIdx.x differs between threads"),
    ]


def test_memory_condition_after_a_return_is_refused():
    k = kernel(
        (
            Assign("i", GLOBAL_INDEX),
            If(Compare(CompareOp.GE, I, N), (Leave(KERNEL),)),
            While(less(x(BX), Const(1.0, F32)), (Barrier(),), "w"),
        ),
        (("i", I32),),
    )
    (result,) = emit_levels(k, levels=(Level.LOOP,))
    assert [d.code for d in result.diagnostics] == ["TM2001"]


def test_uniform_return_takes_the_barriers_along():
    k = kernel(
        (
            If(Compare(CompareOp.GE, BX, N), (Leave(KERNEL),)),
            Store("sh", (TX,), x(TX)),
            Barrier(),
            Store("y", (TX,), sh(num(0))),
        ),
        (),
        (SHARED,),
    )
    nest = LOOP.run(k)
    assert isinstance(nest, Nest)
    assert nest.locals == ()
    assert not any(isinstance(s, Leave) for s in walk_stmts(nest.body))
