"""Atomic operations in emitted TileLang.

Addition is TileLang's own (``T.atomic_add``). Everything else calls a function whose name depends
on the target: CUDA's (``atomicCAS``) on a GPU, on C a helper that does the read, the operation and
the write in turn, which is exact because TileLang's C output runs on one thread. CUDA's 64-bit
functions take ``unsigned long long``, which ``uint64_t`` is not, so those go through a helper on a
GPU as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hipify_tile.ir.stmt import AtomicOp, AtomicRMW
from hipify_tile.ir.types import I64, U64, ScalarType
from hipify_tile.rewriter.emit.expressions import ExpressionPrinter
from hipify_tile.rewriter.emit.intrinsic_spelling import c_type

_UPDATE = {
    AtomicOp.ADD: "old + a",
    AtomicOp.SUB: "old - a",
    AtomicOp.EXCH: "a",
    AtomicOp.MIN: "a < old ? a : old",
    AtomicOp.MAX: "a > old ? a : old",
    AtomicOp.INC: "old >= a ? 0 : old + 1",
    AtomicOp.DEC: "old == 0 || old > a ? a : old - 1",
    AtomicOp.CAS: "old == a ? b : old",
    AtomicOp.AND: "old & a",
    AtomicOp.OR: "old | a",
    AtomicOp.XOR: "old ^ a",
}

GPU_INCLUDES = """\
#include <stdint.h>
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#endif
"""
"""What GPU helpers need, which TileLang puts in front of its own includes."""


@dataclass(frozen=True, slots=True)
class AtomicSpelling:
    """A function name that depends on the target: ``gpu`` or ``c_name``, with helper texts."""

    name: str
    gpu: str
    c_name: str
    helper: str
    gpu_helper: str = ""


@dataclass(slots=True)
class AtomicPrinter:
    """Prints atomic statements; ``types`` are the element types of buffers."""

    expressions: ExpressionPrinter
    types: Mapping[str, ScalarType]
    used: dict[str, AtomicSpelling] = field(default_factory=dict)

    def text(self, stmt: AtomicRMW) -> str:
        """Return the text of an atomic statement."""
        type_ = self.types[stmt.buffer]
        print_ = self.expressions
        place = f"{print_.name(stmt.buffer)}[{print_.index(stmt.indices)}]"
        target = f"{print_.name(stmt.result)} = " if stmt.result else ""
        if stmt.op is AtomicOp.ADD and type_ not in (U64, I64):
            keep = ", return_prev=True" if stmt.result else ""
            operand = print_.text(stmt.operands[0])
            return f"{target}T.atomic_add({place}, {operand}{keep})"
        spelling = atomic_spelling(stmt.op, type_)
        self.used[spelling.name] = spelling
        operands = ", ".join(print_.text(o) for o in stmt.operands)
        access = f'T.access_ptr({place}, "rw")'
        arguments = f'"{type_}", {spelling.name}, {access}, {operands}'
        return f"{target}T.call_extern({arguments})"


def atomic_spelling(op: AtomicOp, type_: ScalarType) -> AtomicSpelling:
    """Return how ``op`` on elements of ``type_`` is called."""
    name = f"atomic_{op}_{type_}"
    c_name = f"tm_{name}"
    c = c_type(str(type_))
    params = f"{c}* p, {c} a" + (f", {c} b" if op is AtomicOp.CAS else "")
    helper = (
        f'extern "C" {c} {c_name}({params}) {{ {c} old = *p; *p = {_UPDATE[op]}; return old; }}\n'
    )
    gpu = f"atomic{'CAS' if op is AtomicOp.CAS else op.value.capitalize()}"
    if type_.bits != 64 or type_.is_float:
        return AtomicSpelling(name, gpu, c_name, helper)
    wide = "unsigned long long" if type_ == U64 or _unsigned_only(op) else "long long"
    casts = f"({wide}*)p, ({wide})a" + (f", ({wide})b" if op is AtomicOp.CAS else "")
    gpu_helper = (
        f"static __device__ __forceinline__ {c} {c_name}({params}) "
        f"{{ return ({c}){gpu}({casts}); }}\n"
    )
    return AtomicSpelling(name, c_name, c_name, helper, gpu_helper)


def _unsigned_only(op: AtomicOp) -> bool:
    """Whether CUDA has the 64-bit operation for ``unsigned long long`` alone."""
    return op not in (AtomicOp.MIN, AtomicOp.MAX, AtomicOp.AND, AtomicOp.OR, AtomicOp.XOR)
