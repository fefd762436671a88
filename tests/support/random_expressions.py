"""Random typed expressions as a kernel: one store an expression, over hostile values.

Expressions also use unsigned locals of the launch index, a small and a wrapping one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Index,
    IndexKind,
    Load,
    Logical,
    LogicalOp,
    Select,
    Unary,
    UnaryOp,
    Var,
    children,
)
from hipify_tile.ir.simt import Buffer, Kernel, Param, Scope
from hipify_tile.ir.stmt import KERNEL, Assign, If, Leave, Stmt, Store
from hipify_tile.ir.types import (
    BOOL,
    F32,
    F64,
    I8,
    I32,
    I64,
    U8,
    U32,
    U64,
    ScalarType,
)

INPUTS = {
    F32: ("f0", "f1"), F64: ("d0", "d1"), I32: ("i0", "i1"), U32: ("u0", "u1"),
    I64: ("l0",), U64: ("q0",), U8: ("b0",), I8: ("c0",),
}  # fmt: skip
SCALARS = {F32: "fs", U32: "us", I32: "is_", F64: "ds"}
_I = Var("i", I32)
_FLOATS = (0.0, -0.0, 1.0, 0.5, 2.0, 3.14159274, 1e20, -1.0, 1 / 3, 1e-5, 16777216.0, 0.1)
_LITERALS: dict[ScalarType, tuple[int, ...]] = {
    I32: (0, 1, 2, 3, -1, 5, -7, 100),
    I64: (0, 1, 2, -1, 7, 1 << 40, -(1 << 35)),
    U32: (0, 1, 2, 3, 5, 31, 100, 0xFFFFFFFF, 0x80000000),
    U64: (0, 1, 2, 5, (1 << 64) - 1, 1 << 63, 1 << 33),
    U8: (0, 1, 255, 7),
    I8: (0, 1, -1, -128, 127),
}
_RESULTS = (F32, F32, F64, I32, U32, U64, I64, BOOL)
_RING = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)


@dataclass
class Generator:
    """Draws expressions of a type; ``rng`` decides everything."""

    rng: random.Random

    def literal(self, type_: ScalarType) -> Const:
        if type_.is_float:
            value = self.rng.choice(_FLOATS)
            return Const(float(np.float32(value)) if type_ == F32 else value, type_)
        if type_ == BOOL:
            return Const(self.rng.random() < 0.5, BOOL)
        return Const(self.rng.choice(_LITERALS[type_]), type_)

    def leaf(self, type_: ScalarType) -> Expr:
        x = self.rng.random()
        if x < 0.25:
            return self.literal(type_)
        if x < 0.4 and type_ in SCALARS:
            return Var(SCALARS[type_], type_)
        if type_ == BOOL:
            op = self.rng.choice(list(CompareOp))
            return Compare(op, self.leaf(I32), self.leaf(I32))
        if x < 0.55 and type_ == U32:
            return Var(self.rng.choice(["lane", "wide"]), U32)
        name = self.rng.choice(INPUTS[type_])
        if x < 0.7 and type_ in (F32, U32, I32):
            return Var(f"v{name}", type_)
        return Load(name, (_I,), type_)

    def expr(self, type_: ScalarType, depth: int) -> Expr:
        x = self.rng.random()
        if depth <= 0 or x < 0.08:
            return self.leaf(type_)
        if x < 0.2:
            arms = self.expr(type_, depth - 1), self.expr(type_, depth - 1)
            return Select(self.expr(BOOL, depth - 1), *arms, type_)
        if type_ == BOOL:
            return self.condition(depth - 1)
        if type_.is_float:
            return self.floating(type_, depth - 1)
        return self.integer(type_, depth - 1)

    def condition(self, depth: int) -> Expr:
        x = self.rng.random()
        if x < 0.35:
            op = self.rng.choice(list(LogicalOp))
            return Logical(op, self.expr(BOOL, depth), self.expr(BOOL, depth))
        if x < 0.45:
            return Unary(UnaryOp.NOT, self.expr(BOOL, depth), BOOL)
        if x < 0.5:
            return Cast(self.expr(self.rng.choice([I32, F32, U32, U64]), depth), BOOL)
        type_ = self.rng.choice([F32, F32, F64, U32, U32, U64, I32, I64, U8])
        op = self.rng.choice(list(CompareOp))
        return Compare(op, self.expr(type_, depth), self.expr(type_, depth))

    def floating(self, type_: ScalarType, depth: int) -> Expr:
        x = self.rng.random()
        if x < 0.15:
            other = F64 if type_ == F32 else F32
            source = self.rng.choice([I32, U32, I64, U64, other, BOOL, U8])
            return Cast(self.expr(source, depth), type_)
        if x < 0.22:
            return Unary(UnaryOp.NEG, self.expr(type_, depth), type_)
        if x < 0.26:
            return Bitcast(self.expr(U32 if type_ == F32 else U64, depth), type_)
        a, b = self.expr(type_, depth), self.expr(type_, depth)
        if x < 0.36:
            return Call(self.rng.choice(["fmin", "fmax"]), (a, b), type_)
        if x < 0.46:
            return Call(self.rng.choice(["fabs", "sqrt", "floor", "trunc"]), (a,), type_)
        op = self.rng.choice([BinaryOp.ADD, BinaryOp.SUB, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV])
        return Binary(op, a, self.related(a, b), type_)

    def related(self, a: Expr, b: Expr) -> Expr:
        """Sometimes repeat an operand of the left side: what a simplifier would cancel."""
        if self.rng.random() >= 0.3:
            return b
        same = [e for e in (a, *children(a)) if e.type == a.type]
        return self.rng.choice(same)

    def integer(self, type_: ScalarType, depth: int) -> Expr:
        if type_ in (U8, I8):
            return Cast(self.expr(self.rng.choice([I32, U32]), depth), type_)
        x = self.rng.random()
        if x < 0.25:
            return Cast(
                self.expr(self.rng.choice([I32, U32, I64, U64, U8, I8, BOOL]), depth), type_
            )
        if x < 0.3:
            return Bitcast(self.expr(F32 if type_.bits == 32 else F64, depth), type_)
        a, b = self.expr(type_, depth), self.expr(type_, depth)
        if x < 0.36:
            return Unary(self.rng.choice([UnaryOp.NEG, UnaryOp.BITNOT]), a, type_)
        if x < 0.42:
            return Call(self.rng.choice(["min", "max"]), (a, b), type_)
        if x < 0.47 and type_ in (U32, U64):
            return Cast(Call(self.rng.choice(["popcount", "clz", "ffs"]), (a,), I32), type_)
        if x < 0.6:
            count = Const(self.rng.randrange(type_.bits), type_)
            return Binary(self.rng.choice([BinaryOp.SHL, BinaryOp.SHR]), a, count, type_)
        if x < 0.72:
            low = Binary(BinaryOp.AND, b, Const(0xFF, type_), type_)
            odd = Binary(BinaryOp.OR, low, Const(1, type_), type_)
            fixed = Const(self.rng.choice([1, 2, 3, 7, 10]), type_)
            divisor = fixed if self.rng.random() < 0.5 else odd
            return Binary(self.rng.choice([BinaryOp.DIV, BinaryOp.REM]), a, divisor, type_)
        return Binary(self.rng.choice(_RING), a, self.related(a, b), type_)


def random_kernel(seed: int, count: int, depth: int = 4) -> Kernel:
    """Return a kernel that stores ``count`` random expressions to buffers ``o0``, ``o1``, …"""
    generator = Generator(random.Random(seed))
    block = Binary(
        BinaryOp.MUL, Index(IndexKind.BLOCK, 0, U32), Index(IndexKind.BLOCK_DIM, 0, U32), U32
    )
    thread = Index(IndexKind.THREAD, 0, U32)
    body: list[Stmt] = [
        Assign("i", Cast(Binary(BinaryOp.ADD, block, thread, U32), I32)),
        If(Compare(CompareOp.GE, _I, Var("n", I32)), (Leave(KERNEL),)),
        Assign("lane", Binary(BinaryOp.AND, thread, Const(31, U32), U32)),
        Assign("wide", Binary(BinaryOp.SUB, thread, Const(3, U32), U32)),
    ]
    locals_ = [("i", I32), ("lane", U32), ("wide", U32)]
    for type_ in (F32, U32, I32):
        for name in INPUTS[type_]:
            locals_.append((f"v{name}", type_))
            body.append(Assign(f"v{name}", Load(name, (_I,), type_)))
    outputs = []
    for k in range(count):
        type_ = generator.rng.choice(_RESULTS)
        outputs.append(Buffer(f"o{k}", type_, Scope.PARAM, storage=f"o{k}", written=True))
        body.append(Store(f"o{k}", (_I,), generator.expr(type_, depth)))
    inputs = [Buffer(n, t, Scope.PARAM, storage=n) for t, names in INPUTS.items() for n in names]
    params = [Param("n", I32, 0)]
    params += [Param(n, t, k + 1) for k, (t, n) in enumerate(SCALARS.items())]
    first = len(params)
    buffers = (*inputs, *outputs)
    params += [Param(b.name, b.dtype, first + k, pointer=True) for k, b in enumerate(buffers)]
    return Kernel(
        "random", "_Z6random", tuple(params), (8,) * len(params), buffers, tuple(locals_),
        tuple(body),
    )  # fmt: skip


def random_inputs(seed: int, size: int) -> dict[str, np.ndarray]:
    """Return ``size`` elements for every input: ordinary values mixed with special ones."""
    rng = np.random.default_rng(seed)
    special = np.array(
        [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e20, -1e20, 3.4e38, 1e-40, 16777217.0]
    )
    data: dict[str, np.ndarray] = {}
    for type_, names in INPUTS.items():
        for name in names:
            mask = rng.random(size) < 0.5
            if type_.is_float:
                values = rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size)
                values[mask] = rng.choice(special, int(mask.sum()))
                with np.errstate(all="ignore"):
                    data[name] = values.astype(type_.name)
            else:
                limits = np.iinfo(type_.name)
                values = rng.integers(-50 if limits.min < 0 else 0, 100, size).astype(type_.name)
                edges = np.array([0, 1, limits.max, limits.min, limits.max - 1], dtype=type_.name)
                # Signed overflow is undefined in C, and TileLang compares as if it never happened.
                if type_ != I32:
                    values[mask] = rng.choice(edges, int(mask.sum()))
                data[name] = values
    return data
