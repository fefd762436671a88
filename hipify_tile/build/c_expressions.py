"""Launch conditions and extents of an emission as C++ expressions over the launch's values."""

from __future__ import annotations

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    IndexKind,
    Logical,
    Select,
    Unary,
    Var,
)
from hipify_tile.ir.types import ScalarType

C_TYPES = {"bool": "bool", "float32": "float", "float64": "double"}


class UnprintableError(ValueError):
    """The expression has no C++ text here."""


def c_type(type_: ScalarType) -> str:
    """Return the C++ type; raises ``UnprintableError`` for one that has none (float16)."""
    if type_.name in C_TYPES:
        return C_TYPES[type_.name]
    if not type_.is_integer:
        raise UnprintableError(str(type_))
    return f"{type_.name}_t"


def c_text(expr: Expr) -> str:
    """Return ``expr`` as C++ text; raises ``UnprintableError`` where it cannot be told."""
    match expr:
        case Const(value=value, type=type_):
            text = repr(float(value)) if type_.is_float else str(int(value))
            if "inf" in text or "nan" in text:
                raise UnprintableError(text)
            if type_.is_integer and type_.bits == 64:
                text += "LL" if int(value) < 2**63 else "ULL"
            return f"({c_type(type_)})({text})"
        case Var(name=name):
            return name
        case Index(kind=IndexKind.BLOCK_DIM, axis=axis):
            return f"block_{'xyz'[axis]}"
        case Index(kind=IndexKind.GRID_DIM, axis=axis):
            return f"grid_{'xyz'[axis]}"
        case Unary(op=op, operand=operand, type=type_):
            return f"({c_type(type_)})({op.value}{c_text(operand)})"
        case Binary(op=op, lhs=lhs, rhs=rhs, type=type_):
            if op in (BinaryOp.DIV, BinaryOp.REM) and not (isinstance(rhs, Const) and rhs.value):
                raise UnprintableError("a division that may be by zero")
            return f"({c_type(type_)})({c_text(lhs)} {op.value} {c_text(rhs)})"
        case Compare(op=op, lhs=lhs, rhs=rhs) | Logical(op=op, lhs=lhs, rhs=rhs):
            return f"({c_text(lhs)} {op.value} {c_text(rhs)})"
        case Select(cond=cond, then=then, orelse=orelse):
            return f"({c_text(cond)} ? {c_text(then)} : {c_text(orelse)})"
        case Cast(operand=operand, type=type_):
            return f"({c_type(type_)})({c_text(operand)})"
        case Call(name="min" | "max" as name, args=(a, b)):
            sign = "<" if name == "min" else ">"
            return f"({c_text(a)} {sign} {c_text(b)} ? {c_text(a)} : {c_text(b)})"
        case _:
            raise UnprintableError(type(expr).__name__)
