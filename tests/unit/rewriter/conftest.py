"""Execution of hand-built kernels: lowered to C and run, beside C++ printed from the IR.

The reference printer is independent of the emitter: it spells the IR's meaning in C++ directly,
with every conversion explicit. It knows no barriers.
"""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    Index,
    Load,
    Logical,
    Select,
    Unary,
    UnaryOp,
    Var,
)  # fmt: skip
from hipify_tile.ir.intrinsics import CPU_PRELUDE, INTRINSICS
from hipify_tile.ir.simt import Kernel, Scope
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
from hipify_tile.ir.types import BOOL
from hipify_tile.rewriter.model import Level
from hipify_tile.rewriter.pipeline import emit_levels
from hipify_tile.verify.lowering import compile_c, lower

C_TYPES = {"bool": "bool", "float32": "float", "float64": "double"}
_FLAGS = [
    "-O1",
    "-std=c++17",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-w",
    "-fno-builtin-fmin",
    "-fno-builtin-fminf",
    "-fno-builtin-fmax",
    "-fno-builtin-fmaxf",
]


def c_type(type_):
    return C_TYPES.get(type_.name, f"{type_.name}_t")


def c_const(const):
    t = const.type
    if t == BOOL:
        return "true" if const.value else "false"
    if t.is_integer:
        if const.value == -(2**63):
            return "(-9223372036854775807ll - 1)"
        return f"(({c_type(t)}){const.value}{'ull' if t.kind == 'uint' else 'll'})"
    value = float(const.value)
    if value != value:
        return f'(({c_type(t)})__builtin_nan(""))'
    if value in (float("inf"), float("-inf")):
        return f"(({c_type(t)}){'-' if value < 0 else ''}__builtin_inf())"
    return f"(({c_type(t)}){value.hex()})"


def c_expr(e):
    match e:
        case Const():
            return c_const(e)
        case Var(name=name):
            return name
        case Index(kind=kind, axis=axis):
            return f"{kind.value}_{'xyz'[axis]}"
        case Load(buffer=b, indices=idx):
            return b + "".join(f"[{c_expr(i)}]" for i in idx)
        case Unary(op=op, operand=x, type=t):
            return f"(({c_type(t)})({op.value}{c_expr(x)}))"
        case Binary(op=op, lhs=a, rhs=b, type=t):
            return f"(({c_type(t)})({c_expr(a)} {op.value} {c_expr(b)}))"
        case Compare(op=op, lhs=a, rhs=b) | Logical(op=op, lhs=a, rhs=b):
            return f"({c_expr(a)} {op.value} {c_expr(b)})"
        case Select(cond=c, then=a, orelse=b):
            return f"({c_expr(c)} ? {c_expr(a)} : {c_expr(b)})"
        case Cast(operand=x, type=t):
            return f"({c_expr(x)} != 0)" if t == BOOL else f"(({c_type(t)}){c_expr(x)})"
        case Bitcast(operand=x, type=t):
            return f"bits<{c_type(t)}>({c_expr(x)})"
        case Call(name=name, args=args):
            row = INTRINSICS[name]
            return "(" + row.c_text(args[0].type, *(f"({c_expr(a)})" for a in args)) + ")"
    raise TypeError(e)


def c_body(body):
    return "".join(map(c_stmt, body))


def c_stmt(s):
    match s:
        case Assign(target=t, value=v):
            return f"{t} = {c_expr(v)};\n"
        case Store(buffer=b, indices=idx, value=v):
            return b + "".join(f"[{c_expr(i)}]" for i in idx) + f" = {c_expr(v)};\n"
        case AtomicRMW(op=op, buffer=b, indices=idx, operands=ops, result=r):
            place = b + "".join(f"[{c_expr(i)}]" for i in idx)
            a = f"a_{op.value}"
            args = ", ".join(
                f"(std::remove_reference_t<decltype({place})>){c_expr(o)}" for o in ops
            )
            return (f"{r} = " if r else "") + f"{a}(&{place}, {args});\n"
        case If(cond=c, then=t, orelse=o):
            return f"if ({c_expr(c)}) {{\n{c_body(t)}}} else {{\n{c_body(o)}}}\n"
        case For(var=v, start=a, stop=z, step=st, body=b, label=label):
            cmp = "<" if st > 0 else ">"
            t = c_type(v.type)
            return (
                f"{{ {t} stop_{label} = {c_expr(z)}; "
                f"for ({t} {v.name} = {c_expr(a)}; {v.name} {cmp} "
                f"stop_{label}; {v.name} += {st}) {{\n{c_body(b)}}} }} leave_{label}:;\n"
            )
        case While(cond=c, body=b, label=label):
            return f"while ({c_expr(c)}) {{\n{c_body(b)}}} leave_{label}:;\n"
        case Block(label=label, body=b):
            return f"{{\n{c_body(b)}}} leave_{label}:;\n"
        case Leave(label=label):
            return "return;\n" if label == KERNEL else f"goto leave_{label};\n"
    raise TypeError(s)


_PRELUDE = """
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
template <typename T, typename F> T bits(F x) { T y; memcpy(&y, &x, sizeof y); return y; }
template <typename T> T a_add(T* p, T v) { T o = *p; *p = o + v; return o; }
template <typename T> T a_sub(T* p, T v) { T o = *p; *p = o - v; return o; }
template <typename T> T a_exch(T* p, T v) { T o = *p; *p = v; return o; }
template <typename T> T a_min(T* p, T v) { T o = *p; if (v < o) *p = v; return o; }
template <typename T> T a_max(T* p, T v) { T o = *p; if (v > o) *p = v; return o; }
template <typename T> T a_inc(T* p, T v) { T o = *p; *p = o >= v ? 0 : o + 1; return o; }
template <typename T> T a_dec(T* p, T v) { T o = *p; *p = (o == 0 || o > v) ? v : o - 1; return o; }
template <typename T> T a_cas(T* p, T c, T v) { T o = *p; if (o == c) *p = v; return o; }
template <typename T> T a_and(T* p, T v) { T o = *p; *p = o & v; return o; }
template <typename T> T a_or(T* p, T v) { T o = *p; *p = o | v; return o; }
template <typename T> T a_xor(T* p, T v) { T o = *p; *p = o ^ v; return o; }
"""


def reference_source(kernel):
    """C++ that runs a barrier-free kernel over a grid, threads in order."""
    params, unpack = [], []
    pointers = {p.name for p in kernel.params if p.pointer}
    buffers = {b.name: b for b in kernel.buffers if b.scope in (Scope.PARAM, Scope.GLOBAL)}
    names = [p.name for p in kernel.params if not p.pointer] + list(buffers)
    assert pointers <= {b.storage or b.name for b in buffers.values()}
    for p in kernel.params:
        if not p.pointer:
            params.append(f"{c_type(p.dtype)} {p.name}")
            unpack.append(f"*({c_type(p.dtype)}*)args[{len(unpack)}]")
    for b in buffers.values():
        params.append(f"{c_type(b.dtype)}* {b.name}")
        unpack.append(f"*({c_type(b.dtype)}**)args[{len(unpack)}]")
    dims = [f"{k}_{a}" for k in ("gridDim", "blockDim") for a in "xyz"]
    idx = [f"{k}_{a}" for k in ("blockIdx", "threadIdx") for a in "xyz"]
    locals_ = "".join(f"{c_type(t)} {n};\n" for n, t in kernel.locals)
    arrays = "".join(
        f"{c_type(b.dtype)} {b.name}" + "".join(f"[{n}]" for n in b.shape) + ";\n"
        for b in kernel.buffers
        if b.scope is Scope.LOCAL
    )
    head = ", ".join([*params, *(f"uint32_t {d}" for d in (*dims, *idx))])
    call = ", ".join([*unpack, *(f"dims[{i}]" for i in range(6)), *idx])
    loops = "".join(
        f"for (uint32_t {k}_{a} = 0; {k}_{a} < dims[{i + 'xyz'.index(a)}]; ++{k}_{a})\n"
        for k, i in (("blockIdx", 0), ("threadIdx", 3))
        for a in ("xyz" if k == "blockIdx" else "zyx")
    )
    return names, (
        _PRELUDE
        + CPU_PRELUDE
        + f"static void thread({head}) {{\n{locals_}{arrays}{c_body(kernel.body)}}}\n"
        + f'extern "C" void run(void** args, uint32_t* dims) {{\n{loops}thread({call});\n}}\n'
    )


def _pack(names, arguments, types):
    keep, slots = [], []
    for name in names:
        value = arguments[name]
        if isinstance(value, np.ndarray):
            cell = ctypes.c_void_p(value.ctypes.data)
        else:
            cell = np.array([value], dtype=types[name])
            slots.append(cell.ctypes.data)
            keep.append(cell)
            continue
        keep.append(cell)
        slots.append(ctypes.addressof(cell))
    return keep, (ctypes.c_void_p * len(slots))(*slots)


class Execution:
    """Runs kernels; the cache of compiled objects lives as long as the test session."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def emit(self, kernel: Kernel, level=Level.LOOP):
        (result,) = emit_levels(kernel, levels=(level,))
        assert result.emission is not None, result.diagnostics
        return result.emission

    def tilelang(self, kernel, grid, block, arguments, **options):
        """Run on target c; arrays of ``arguments`` are updated in place."""
        emission = self.emit(kernel)
        lowered = lower(emission, "c", options)
        entry = ctypes.CDLL(str(compile_c(lowered, self.cache))).tm_entry
        values = dict(arguments)
        values |= {f"grid_{a}": g for a, g in zip("xyz", grid, strict=True)}
        values |= {f"block_{a}": b for a, b in zip("xyz", block, strict=True)}
        names = [p.name for p in lowered.parameters]
        types = {p.name: p.dtype for p in lowered.parameters}
        keep, slots = _pack(names, values, types)
        entry(slots)
        del keep
        return emission

    def reference(self, kernel, grid, block, arguments):
        """Run the C++ printed from the IR."""
        names, source = reference_source(kernel)
        self.cache.mkdir(parents=True, exist_ok=True)
        path = self.cache / f"ref_{abs(hash(source))}.cpp"
        path.write_text(source)
        so = path.with_suffix(".so")
        subprocess.run(["g++", *_FLAGS, "-shared", "-fPIC", str(path), "-o", str(so)], check=True)
        run = ctypes.CDLL(str(so)).run
        types = {p.name: str(p.dtype) for p in kernel.params if not p.pointer}
        keep, slots = _pack(names, arguments, types)
        run(slots, (ctypes.c_uint32 * 6)(*grid, *block))
        del keep

    def check(self, kernel, grid, block, arguments, **options):
        """Run both and compare every array bit for bit (NaN equals NaN)."""
        mine = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
        self.reference(kernel, grid, block, arguments)
        emission = self.tilelang(kernel, grid, block, mine, **options)
        for name, expected in arguments.items():
            if isinstance(expected, np.ndarray):
                assert_same(mine[name], expected, name + "\n" + emission.source)
        return emission


def assert_same(got, expected, message=""):
    if expected.dtype.kind == "f":
        nan = np.isnan(expected)
        assert (np.isnan(got) == nan).all(), message
        wide = {4: np.uint32, 8: np.uint64}[expected.dtype.itemsize]
        got, expected = got[~nan].view(wide), expected[~nan].view(wide)
    bad = np.flatnonzero(got != expected)
    assert bad.size == 0, f"{bad[:5]}: {got[bad[:5]]} != {expected[bad[:5]]} {message}"


@pytest.fixture(scope="session")
def execution(tmp_path_factory):
    return Execution(tmp_path_factory.mktemp("kernels"))


_ = (UnaryOp, BinaryOp, AtomicOp)
