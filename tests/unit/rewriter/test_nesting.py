"""Nests deeper than Python's 20 blocks: executed on target c, lowered for CUDA, and bounded."""

from __future__ import annotations

import random

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
)
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.stmt import KERNEL, Assign, Block, For, If, Leave, Stmt, Store, walk_stmts
from hipify_tile.ir.types import I32, U32
from hipify_tile.ir.verify import violations
from hipify_tile.rewriter.emit.nesting import ROOM, Nesting, _deepest
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.names import Namer
from hipify_tile.verify.lowering import lower

I, C, J = (Var(n, I32) for n in "icj")  # noqa: E741
X = Load("x", (I,), I32)
DONE = Store("y", (I,), C)
THREADS = 48


def num(value):
    return Const(value, I32)


def is_(value):
    return Compare(CompareOp.EQ, X, num(value))


def above(value):
    return Compare(CompareOp.GT, X, num(value))


def mark(value):
    """Every path leaves another value: the order of all that was executed."""
    times = Binary(BinaryOp.MUL, C, num(31), I32)
    return Assign("c", Binary(BinaryOp.ADD, times, num(value), I32))


def chain(arms, *, before=False, arm=lambda k: (mark(k),)):
    body: tuple[Stmt, ...] = (mark(1000),)
    for k in reversed(range(arms)):
        body = (*((mark(-k),) if before and k else ()), If(is_(k), arm(k), body))
    return body


def well(depth, bottom, *, after=False):
    body = bottom
    for k in reversed(range(depth)):
        tail = (mark(2000 + k),) if after else ()
        body = (mark(k), If(above(k), body, (mark(3000 + k),)), *tail)
    return body


def loop(body, label="l"):
    return For(J, num(0), num(3), 1, body, label)


DEEP = {
    "forty arms": chain(40),
    "forty arms with statements between them": chain(40, before=True),
    "a chain that breaks, continues and returns": (
        loop((Block("again", (
            *chain(30, arm=lambda k: (mark(k), Leave(("l", "again", KERNEL, "again")[k % 4]))),
            mark(7),
        )),)),
    ),
    "a deep nest": well(25, (mark(5),)),
    "a deep nest with statements behind every level": well(25, (mark(5),), after=True),
    "a loop at the bottom": well(20, (loop((mark(9), *chain(25))),), after=True),
    "two deep nests in both arms": (
        If(above(20), well(24, (mark(1),), after=True), well(24, (mark(2),))),
    ),
    "a chain of nests": chain(18, arm=lambda k: well(12, (mark(k),), after=k % 2 == 0)),
}  # fmt: skip


def build(body):
    index = Cast(
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
    buffers = (
        Buffer("x", I32, Scope.PARAM, storage="x"),
        Buffer("y", I32, Scope.PARAM, storage="y", written=True),
    )
    params = tuple(Param(b.name, b.dtype, i, pointer=True) for i, b in enumerate(buffers))
    full = (Assign("i", index), Assign("c", num(1)), *body, DONE)
    names = (("i", I32), ("j", I32), ("c", I32))
    kernel = Kernel("deep", "_Z4deep", params, (8, 8), buffers, names, full)
    assert violations(kernel) == []
    return kernel


@pytest.mark.parametrize("name", DEEP)
def test_deep_nests_compute_what_they_did(execution, name):
    xs = np.arange(THREADS, dtype=np.int32) - 2
    y = np.full(THREADS, -1, np.int32)
    execution.check(build(DEEP[name]), (6, 1, 1), (8, 1, 1), {"x": xs, "y": y})


@pytest.mark.parametrize("name", ["forty arms", "a loop at the bottom"])
def test_deep_nests_lower_thread_for_thread(execution, name):
    emission = execution.emit(build(DEEP[name]), Level.SIMT)
    assert "deep_kernel" in lower(emission, "cuda", {"block": (32, 1, 1)}).source


def test_what_fits_stays_as_it_is():
    nesting = Nesting(Namer())
    body = chain(9)
    assert _deepest(body) <= ROOM
    assert nesting.limit(body) is body and not nesting.flags


def random_body(rng, size):
    out: list[Stmt] = []
    while size > 0:
        part = rng.randint(1, size)
        size -= part
        if part == 1 or rng.random() < 0.1:
            out.append(mark(rng.randint(0, 99)))
        elif rng.random() < 0.1:
            out.append(loop(random_body(rng, part - 1), f"l{rng.random()}"))
        else:
            cut = rng.choice((0, part - 1, rng.randint(0, part - 1)))
            then, orelse = random_body(rng, cut), random_body(rng, part - 1 - cut)
            out.append(If(rng.choice((is_, above))(rng.randint(0, 20)), then, orelse))
    return tuple(out)


def run(body, x):
    """Interpret a body of ``random_body``, with the flags of ``Nesting``."""
    state: dict[str, int | bool] = {"c": 1}

    def value(expr):
        match expr:
            case Const(value=v):
                return v
            case Var(name=name):
                return state[name]
            case Load():
                return x
            case Compare(op=op, lhs=lhs, rhs=rhs):
                left, right = value(lhs), value(rhs)
                return left == right if op is CompareOp.EQ else left > right
            case Binary(op=op, lhs=lhs, rhs=rhs):
                left, right = value(lhs), value(rhs)
                return left * right % 2**61 if op is BinaryOp.MUL else left + right
            case _:
                return not value(expr.operand)

    def execute(stmts):
        for stmt in stmts:
            match stmt:
                case Assign(target=target, value=assigned):
                    state[target] = value(assigned)
                case If(cond=cond, then=then, orelse=orelse):
                    execute(then if value(cond) else orelse)
                case For(body=inner):
                    for _ in range(3):
                        execute(inner)

    execute(body)
    return state["c"]


@pytest.mark.parametrize("room", [4, 6, 9, 14])
def test_random_bodies_are_bounded_and_equal(room):
    rng = random.Random(room)
    changed = 0
    for _ in range(150):
        body = random_body(rng, 12 * room)
        if sum(isinstance(s, For) for s in walk_stmts(body)) > (room - 3) // 2:
            continue
        nesting = Nesting(Namer())
        flat = nesting.limit(body, room)
        changed += bool(nesting.flags)
        assert _deepest(flat) <= room or any(isinstance(s, For) for s in walk_stmts(body))
        for x in range(-1, 22, 2):
            assert run(flat, x) == run(body, x)
    assert changed > 10
