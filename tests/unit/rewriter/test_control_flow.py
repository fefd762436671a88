"""Structured control flow, executed on target c against C++ printed from the IR."""

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
    Unary,
    UnaryOp,
    Var,
)  # fmt: skip
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicOp,
    AtomicRMW,
    Block,
    For,
    If,
    Leave,
    Store,
    While,
)  # fmt: skip
from hipify_tile.ir.types import BOOL, F32, I32, I64, U32, U64
from hipify_tile.ir.verify import violations
from hipify_tile.rewriter.model import Level

GLOBAL = Cast(
    Binary(
        BinaryOp.ADD,
        Binary(
            BinaryOp.MUL,
            Index(IndexKind.BLOCK, 0, U32),
            Index(IndexKind.BLOCK_DIM, 0, U32),
            U32,
        ),
        Index(IndexKind.THREAD, 0, U32),
        U32,
    ),
    I32,
)
I, J, K, C = (Var(n, I32) for n in "ijkc")  # noqa: E741
TRUE = Const(True, BOOL)


def num(value, type_=I32):
    return Const(value, type_)


def op(o, a, b):
    return Binary(BinaryOp(o), a, b, a.type)


def cmp(a, o, b):
    return Compare(CompareOp(o), a, b)


def bump(amount=1):
    return Assign("c", op("+", C, num(amount)))


def x(i):
    return Load("x", (i,), I32)


def build(body, extra=(), buffers=()):
    bufs = (
        Buffer("x", I32, Scope.PARAM, storage="x"),
        Buffer("y", I32, Scope.PARAM, storage="y", written=True),
        *buffers,
    )
    pointers = [Param(b.name, b.dtype, i + 1, pointer=True) for i, b in enumerate(bufs)]
    params = (Param("n", I32, 0), *pointers)
    names = (("i", I32), ("j", I32), ("k", I32), ("c", I32), *extra)
    full = (Assign("i", GLOBAL), Assign("c", num(0)), *body)
    k = Kernel("flow", "_Z4flow", params, (4, 8, 8, 8), bufs, names, full)
    assert violations(k) == []
    return k


DONE = Store("y", (I,), C)

CASES = {
    "break and continue of nested loops": (
        For(J, num(0), num(10), 1, (
            Block("cj", (
                If(cmp(op("&", op("+", J, x(I)), num(3)), "==", num(1)), (Leave("cj"),)),
                For(K, num(0), num(10), 1, (
                    Block("ck", (
                        If(cmp(K, "==", op("&", x(I), num(7))), (Leave("ck"),)),
                        If(cmp(op("+", K, J), ">", num(12)), (Leave("lk"),)),
                        bump(),
                    )),
                ), "lk"),
                bump(100),
            )),
        ), "lj"),
        DONE,
    ),
    "leave two loops at once": (
        For(J, num(0), num(10), 1, (
            For(K, num(0), num(10), 1, (
                If(cmp(op("*", J, K), ">", x(I)), (Leave("lj"),)),
                bump(),
            ), "lk"),
            bump(1000),
        ), "lj"),
        DONE,
    ),
    "continue an outer loop from an inner one": (
        For(J, num(0), num(10), 1, (
            Block("cj", (
                For(K, num(0), num(10), 1, (
                    If(cmp(op("+", J, K), ">", x(I)), (Leave("cj"),)),
                    bump(),
                ), "lk"),
                bump(1000),
            )),
        ), "lj"),
        DONE,
    ),
    "return from inside loops": (
        For(J, num(0), num(10), 1, (
            While(cmp(C, "<", num(50)), (
                bump(3),
                If(cmp(op("&", C, num(7)), "==", x(I)), (Leave(KERNEL),)),
                If(cmp(C, ">", num(20)), (Leave("lw"),)),
            ), "lw"),
            Store("y", (I,), op("+", C, J)),
        ), "lj"),
        Store("y", (I,), op("+", C, num(5000))),
    ),
    "switch with fall through": (
        Block("sw", (
            Block("b", (
                Block("a", (
                    If(cmp(x(I), "==", num(1)), (Leave("a"),)),
                    If(cmp(x(I), "==", num(2)), (Leave("b"),)),
                    bump(7),
                    Leave("sw"),
                )),
                bump(10),
            )),
            bump(100),
        )),
        DONE,
    ),
    "switch inside a loop": (
        For(J, num(0), num(6), 1, (
            Block("cj", (
                Block("sw", (
                    If(cmp(J, "==", num(1)), (bump(1), Leave("sw"))),
                    If(cmp(J, "==", num(2)), (bump(10), Leave("cj"))),
                    If(cmp(J, "==", op("&", x(I), num(5))), (Leave("lj"),)),
                    bump(100),
                )),
                bump(1000),
            )),
        ), "lj"),
        DONE,
    ),
    "endless loop with a break": (
        While(TRUE, (bump(), If(cmp(C, ">", x(I)), (Leave("w"),))), "w"),
        DONE,
    ),
    "do while with continue": (
        Assign("go", TRUE),
        While(Var("go", BOOL), (
            Block("cw", (
                bump(),
                If(cmp(op("&", C, num(1)), "==", num(0)), (Leave("cw"),)),
                bump(2),
            )),
            Assign("go", cmp(C, "<", x(I))),
        ), "w"),
        DONE,
    ),
    "early return in an else branch": (
        If(cmp(x(I), ">", num(5)), (bump(1),), (If(cmp(x(I), "<", num(3)), (Leave(KERNEL),)),)),
        bump(10),
        DONE,
    ),
    "counting down by two": (
        For(J, x(I), num(-5), -2, (bump(), Assign("c", op("+", C, J))), "d"),
        DONE,
    ),
    "bound that the body changes": (
        Store("y", (I,), x(I)),
        For(J, num(0), Load("y", (I,), I32), 1, (
            Store("y", (I,), op("+", Load("y", (I,), I32), num(1))),
        ), "l"),
    ),
    "unsigned and 64-bit loop variables": (
        For(Var("u", U32), num(4294967290, U32), num(4294967295, U32), 1, (
            Assign("c", op("+", C, Cast(Var("u", U32), I32))),
        ), "lu"),
        For(Var("q", U64), num(0, U64), Cast(x(I), U64), 3, (bump(5),), "lq"),
        For(Var("l", I64), num(-4, I64), Cast(x(I), I64), 1, (bump(50),), "ll"),
        DONE,
    ),
    "condition negated on unsigned wrap": (
        Assign("v", Cast(x(I), U32)),
        If(Unary(UnaryOp.NOT, cmp(op("-", Var("v", U32), num(1, U32)), "<", Var("v", U32)), BOOL),
           (bump(1),), (bump(2),)),
        DONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_control_flow(execution, name):
    extra = [("go", BOOL), ("u", U32), ("q", U64), ("l", I64), ("v", U32)]
    k = build(CASES[name], extra)
    xs = np.arange(24, dtype=np.int32) % 12
    execution.check(k, (3, 1, 1), (8, 1, 1), {"n": 24, "x": xs, "y": np.full(24, -1, np.int32)})


@pytest.mark.parametrize("type_", [I32, U32, I64, U64, F32], ids=str)
def test_atomics(execution, type_):
    ops = list(AtomicOp)
    if type_ == F32:
        ops = [AtomicOp.ADD, AtomicOp.EXCH]
    if type_ in (I64, I32):
        ops = [o for o in ops if o not in (AtomicOp.INC, AtomicOp.DEC)]
    old = Var("old", type_)
    zero = num(0.0 if type_ == F32 else 0, type_)
    body = []
    for position, o in enumerate(ops):
        value = Cast(x(I), type_)
        operands = (zero, value) if o is AtomicOp.CAS else (value,)
        body += [
            AtomicRMW(o, "a", (num(position),), operands, "old"),
            Assign("c", op("+", C, Cast(op("*", old, Const(zero.value + 3, type_)), I32))),
            AtomicRMW(o, "a", (num(position),), operands),
        ]
    a = Buffer("a", type_, Scope.PARAM, storage="a", written=True)
    k = build((*body, DONE), (("old", type_),), (a,))
    initial = np.arange(len(ops)).astype(type_.name)
    args = {"n": 8, "x": np.arange(8, dtype=np.int32), "y": np.zeros(8, np.int32), "a": initial}
    execution.check(k, (2, 1, 1), (4, 1, 1), args)


def test_emitted_text_is_stable_and_lowers_for_gpus(execution):
    import ast
    import subprocess
    import sys

    from hipify_tile.verify.lowering import lower

    k = build(CASES["return from inside loops"], [("go", BOOL)])
    for level, options in ((Level.LOOP, {}), (Level.SIMT, {"block": (32, 1, 1)})):
        emission = execution.emit(k, level)
        ast.parse(emission.source)
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--isolated", "--diff", "-"],
            input=emission.source, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        for target in ("cuda", "hip"):
            assert "flow_kernel" in lower(emission, target, options).source
