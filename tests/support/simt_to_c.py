"""A C++ printer of ``simt.Kernel`` for tests: one function that runs one thread, semantics 1:1."""

from hipify_tile.ir.expr import (
    Binary,
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
)
from hipify_tile.ir.intrinsics import INTRINSICS
from hipify_tile.ir.simt import Scope
from hipify_tile.ir.stmt import (
    Assign,
    AtomicRMW,
    Barrier,
    Block,
    For,
    If,
    Leave,
    Store,
    While,
    walk_stmts,
)

C_TYPES = {"bool": "bool", "float32": "float", "float64": "double"} | {
    f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
ATOMIC = {
    "add": "({o} + {a})",
    "sub": "({o} - {a})",
    "exch": "{a}",
    "min": "({a} < {o} ? {a} : {o})",
    "max": "({a} > {o} ? {a} : {o})",
    "inc": "({o} >= {a} ? 0 : {o} + 1)",
    "dec": "({o} == 0 || {o} > {a} ? {a} : {o} - 1)",
    "and": "({o} & {a})",
    "or": "({o} | {a})",
    "xor": "({o} ^ {a})",
    "cas": "({o} == {a} ? {b} : {o})",
}


def ctype(type_):
    return C_TYPES[type_.name]


def literal(const):
    if const.type.is_float:
        value = float(const.value)
        if value != value:
            text = '__builtin_nan("")'
        elif value in (float("inf"), float("-inf")):
            text = "__builtin_inf()" if value > 0 else "-__builtin_inf()"
        else:
            text = value.hex()
        return f"(({ctype(const.type)}){text})"
    value = int(const.value)
    if value == -(2**63):
        return "((int64_t)(-9223372036854775807LL - 1))"
    return f"(({ctype(const.type)}){value}{'ULL' if value > 2**63 - 1 else 'LL'})"


class Printer:
    def __init__(self, kernel):
        self.kernel = kernel

    def expr(self, e):
        t = ctype(e.type)
        match e:
            case Const():
                return literal(e)
            case Var():
                return f"v_{e.name}"
            case Index():
                return f"x_{e.kind}[{e.axis}]"
            case Unary(op=UnaryOp.NOT):
                return f"(!{self.expr(e.operand)})"
            case Unary():
                return f"(({t})({e.op}{self.expr(e.operand)}))"
            case Binary():
                return f"(({t})({self.expr(e.lhs)} {e.op} {self.expr(e.rhs)}))"
            case Compare() | Logical():
                return f"({self.expr(e.lhs)} {e.op} {self.expr(e.rhs)})"
            case Select():
                parts = (self.expr(e.cond), self.expr(e.then), self.expr(e.orelse))
                return "({} ? {} : {})".format(*parts)
            case Cast():
                return f"(({t}){self.expr(e.operand)})"
            case Bitcast():
                return f"bits<{t}>({self.expr(e.operand)})"
            case Load():
                return self.element(e.buffer, e.indices)
            case Call():
                row = INTRINSICS[e.name]
                return f"(({t}){row.c_text(e.args[0].type, *map(self.expr, e.args))})"

    def element(self, name, indices):
        buffer = self.kernel.buffer(name)
        flat = self.expr(indices[0])
        for extent, index in zip(buffer.shape[1:], indices[1:], strict=False):
            flat = f"(({flat}) * {extent} + {self.expr(index)})"
        return f"(({ctype(buffer.dtype)}*)s_{buffer.storage or name})[{flat}]"

    def body(self, body):
        return "\n".join(self.stmt(s) for s in body)

    def stmt(self, s):
        match s:
            case Assign():
                return f"v_{s.target} = {self.expr(s.value)};"
            case Store():
                return f"{self.element(s.buffer, s.indices)} = {self.expr(s.value)};"
            case AtomicRMW():
                operands = [self.expr(o) for o in s.operands]
                a, b = operands[0], operands[-1]
                place = self.element(s.buffer, s.indices)
                new = ATOMIC[s.op].format(o="old", a=f"({a})", b=f"({b})")
                keep = f"v_{s.result} = old;" if s.result else ""
                return f"{{ auto &place = {place}; auto old = place; place = {new}; {keep} }}"
            case If():
                orelse = f" else {{ {self.body(s.orelse)} }}" if s.orelse else ""
                return f"if ({self.expr(s.cond)}) {{ {self.body(s.then)} }}{orelse}"
            case For():
                v, op = f"v_{s.var.name}", "<" if s.step > 0 else ">"
                stop = f"stop_{s.label}"
                return (
                    f"{{ {stop} = {self.expr(s.stop)}; for ({v} = {self.expr(s.start)}; "
                    f"{v} {op} {stop}; {v} += {s.step}) {{ {self.body(s.body)} }} }} "
                    f"end_{s.label}:;"
                )
            case While():
                return f"while ({self.expr(s.cond)}) {{ {self.body(s.body)} }} end_{s.label}:;"
            case Block():
                return f"{{ {self.body(s.body)} }} end_{s.label}:;"
            case Leave():
                return f"goto end_{s.label};"
            case Barrier():
                return ";"
        raise AssertionError(s)

    def function(self, name):
        k = self.kernel
        lines = [f"static void {name}(void **args) {{"]
        for p in k.params:
            at = f"((char*)args[{p.argument}] + {p.offset})"
            if p.pointer:
                lines.append(f"char *s_{p.name} = *(char**){at};")
            else:
                lines.append(f"{ctype(p.dtype)} v_{p.name} = *({ctype(p.dtype)}*){at};")
        for b in k.buffers:
            if b.scope in (Scope.LOCAL, Scope.SHARED) and (b.storage or b.name) == b.name:
                count = 1
                for n in b.shape:
                    count *= n
                keep = "static " if b.scope is Scope.SHARED else ""
                lines.append(f"alignas(16) {keep}char s_{b.name}[{count * b.dtype.bytes}];")
            if b.scope is Scope.DYNAMIC_SHARED and (b.storage or b.name) == b.name:
                lines.append(f"alignas(16) static char s_{b.name}[65536];")
            if b.scope is Scope.GLOBAL and (b.storage or b.name) == b.name:
                lines.append(f"char *s_{b.name} = (char*)&{b.symbol};")
        lines += [f"{ctype(t)} v_{n} = {ctype(t)}();" for n, t in k.locals]
        lines += [f"{ctype(s.var.type)} stop_{s.label};" for s in _loops(k.body)]
        return "\n".join([*lines, self.body(k.body), "end_kernel:;", "}"])


def _loops(body):
    return [s for s in walk_stmts(body) if isinstance(s, For)]


PRELUDE = r"""
#include <cstdint>
#include <cmath>
#include <cstring>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <algorithm>
static uint32_t x_threadIdx[3], x_blockIdx[3], x_blockDim[3], x_gridDim[3];
template <class T, class S> static T bits(S s) {
  T t; static_assert(sizeof(T) == sizeof(S)); memcpy(&t, &s, sizeof t); return t;
}
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__
#define __shared__ static
#define __restrict__
#define __launch_bounds__(...)
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
#define threadIdx (*(uint3*)x_threadIdx)
#define blockIdx (*(uint3*)x_blockIdx)
#define blockDim (*(dim3*)x_blockDim)
#define gridDim (*(dim3*)x_gridDim)
struct float2 { float x, y; }; struct int2 { int x, y; };
struct alignas(16) float4 { float x, y, z, w; }; struct uchar4 { unsigned char x, y, z, w; };
static float2 make_float2(float x, float y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
using std::isnan; using std::isinf;
static void __syncthreads() {}
template <class T> static T __ldg(const T *p) { return *p; }
static int __float_as_int(float x) { return bits<int>(x); }
static float __int_as_float(int x) { return bits<float>(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static float __expf(float x) { return expf(x); }
static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
template <class T> static T atomicAdd(T *p, T v) { T o = *p; *p = o + v; return o; }
static int atomicMax(int *p, int v) { int o = *p; *p = v > o ? v : o; return o; }
static int atomicCAS(int *p, int c, int v) { int o = *p; if (o == c) *p = v; return o; }
static unsigned atomicInc(unsigned *p, unsigned v) {
  unsigned o = *p; *p = o >= v ? 0 : o + 1; return o;
}
"""
