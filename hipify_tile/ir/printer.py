"""Readable, deterministic text of a ``simt.Kernel`` or a ``loop.Nest``.

The text is CUDA-like and fully typed: conversions, widths and literals are explicit. It holds no
path and no position. It is for people and golden tests; nothing parses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from hipify_tile.ir.expr import (
    Binary,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    Load,
    Logical,
    Select,
    Unary,
    Var,
)
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Buffer, Kernel, Param
from hipify_tile.ir.stmt import (
    Access,
    Assign,
    AtomicRMW,
    Axis,
    Barrier,
    Block,
    Contraction,
    For,
    If,
    Leave,
    Loop,
    Stmt,
    Store,
    While,
)
from hipify_tile.ir.types import F64, I32, ScalarType


def print_ir(item: Kernel | Nest) -> str:
    """Return the text of ``item``, ending in a newline."""
    return "\n".join(_lines(item)) + "\n"


def print_expr(expr: Expr) -> str:
    """Return the text of one expression."""
    match expr:
        case Const():
            return _const(expr)
        case Var():
            return expr.name
        case Index():
            return f"{expr.kind}.{'xyz'[expr.axis]}"
        case Unary():
            return f"{expr.op}{_operand(expr.operand)}"
        case Binary() | Compare() | Logical():
            return f"{_operand(expr.lhs)} {expr.op} {_operand(expr.rhs)}"
        case Select():
            parts = (_operand(expr.cond), _operand(expr.then), _operand(expr.orelse))
            return "{} ? {} : {}".format(*parts)
        case Cast():
            return f"{expr.type}({print_expr(expr.operand)})"
        case Bitcast():
            return f"bitcast<{expr.type}>({print_expr(expr.operand)})"
        case Load():
            return _element(expr.buffer, expr.indices)
        case Call():
            args = ", ".join(map(print_expr, expr.args))
            return f"{expr.name}<{expr.type}>({args})"


def _operand(expr: Expr) -> str:
    text = print_expr(expr)
    return f"({text})" if isinstance(expr, Binary | Compare | Logical | Select) else text


def _const(expr: Const) -> str:
    if isinstance(expr.value, bool):
        return "true" if expr.value else "false"
    if expr.type.is_float:
        value = float(expr.value)
        if math.isnan(value) or math.isinf(value):
            return f"{expr.type}({value!r})"
        return repr(value) if expr.type is F64 else f"{value!r}f"
    return str(expr.value) if expr.type == I32 else f"{expr.type}({expr.value})"


def _element(buffer: str, indices: tuple[Expr, ...]) -> str:
    return f"{buffer}[{', '.join(map(print_expr, indices))}]"


def _lines(item: Kernel | Nest) -> Iterator[str]:
    level = "simt" if isinstance(item, Kernel) else "loop"
    yield f"{level} {item.name} {{"
    yield from (f"  param {_param(p)};" for p in item.params)
    yield from (f"  buffer {_buffer(b)};" for b in item.buffers)
    yield from _locals("local", item.locals)
    if isinstance(item, Kernel):
        if item.launch_bounds != (0, 0):
            yield f"  launch_bounds {item.launch_bounds[0]}, {item.launch_bounds[1]};"
    else:
        yield from _locals("block_local", item.block_locals)
        yield from (f"  grid {_axis(a)};" for a in item.grid)
        yield from (f"  block {_axis(a)};" for a in item.block)
    yield from _stmts(item.body, 1)
    yield "}"


def _locals(kind: str, names: tuple[tuple[str, ScalarType], ...]) -> Iterator[str]:
    yield from (f"  {kind} {type_} {name};" for name, type_ in names)


def _param(param: Param) -> str:
    const = "const " if param.const else ""
    star = "*" if param.pointer else ""
    where = f"arg {param.argument}" + (f" + {param.offset}" if param.offset else "")
    return f"{const}{param.dtype}{star} {param.name} ({where})"


def _buffer(buffer: Buffer) -> str:
    shape = "".join(f"[{n}]" for n in buffer.shape) or "[]"
    view = f" view of {buffer.storage}" if buffer.storage not in ("", buffer.name) else ""
    flags = "".join(
        f" {word}"
        for word, on in (("written", buffer.written), ("restrict", buffer.restrict))
        if on
    )
    symbol = f" symbol {buffer.symbol}" if buffer.symbol else ""
    return f"{buffer.scope} {buffer.dtype} {buffer.name}{shape}{view}{flags}{symbol}"


def _axis(axis: Axis) -> str:
    return f"{axis.kind} {axis.var.type} {axis.var.name} < {print_expr(axis.extent)}"


def _access(access: Access) -> str:
    return _element(access.buffer, access.indices)


def _stmts(body: tuple[Stmt, ...], depth: int) -> Iterator[str]:
    for stmt in body:
        yield from _stmt(stmt, depth)


def _nested(head: str, body: tuple[Stmt, ...], depth: int) -> Iterator[str]:
    pad = "  " * depth
    yield f"{pad}{head} {{"
    yield from _stmts(body, depth + 1)
    yield f"{pad}}}"


def _stmt(stmt: Stmt, depth: int) -> Iterator[str]:
    pad = "  " * depth
    match stmt:
        case Assign():
            yield f"{pad}{stmt.target} = {print_expr(stmt.value)};"
        case Store():
            yield f"{pad}{_element(stmt.buffer, stmt.indices)} = {print_expr(stmt.value)};"
        case AtomicRMW():
            result = f"{stmt.result} = " if stmt.result else ""
            operands = ", ".join(map(print_expr, stmt.operands))
            place = _element(stmt.buffer, stmt.indices)
            yield f"{pad}{result}atomic_{stmt.op}(&{place}, {operands});"
        case If():
            yield f"{pad}if ({print_expr(stmt.cond)}) {{"
            yield from _stmts(stmt.then, depth + 1)
            if stmt.orelse:
                yield f"{pad}}} else {{"
                yield from _stmts(stmt.orelse, depth + 1)
            yield f"{pad}}}"
        case For():
            compare = "<" if stmt.step > 0 else ">"
            name = stmt.var.name
            head = (
                f"{stmt.label}: for ({stmt.var.type} {name} = {print_expr(stmt.start)}; "
                f"{name} {compare} {print_expr(stmt.stop)}; {name} += {stmt.step})"
            )
            yield from _nested(head, stmt.body, depth)
        case While():
            yield from _nested(f"{stmt.label}: while ({print_expr(stmt.cond)})", stmt.body, depth)
        case Block():
            yield from _nested(f"{stmt.label}:", stmt.body, depth)
        case Leave():
            yield f"{pad}leave {stmt.label};"
        case Barrier():
            yield f"{pad}barrier;"
        case Loop():
            axes = "; ".join(map(_axis, stmt.axes))
            yield from _nested(f"loop ({axes})", stmt.body, depth)
        case Contraction():
            axes = "; ".join(map(_axis, stmt.axes))
            yield f"{pad}contract ({axes})"
            yield f"{pad}  {_access(stmt.out)} = {print_expr(stmt.epilogue)}"
            yield (
                f"{pad}  where {stmt.accumulator.name} = {print_expr(stmt.init)} + "
                f"sum {_access(stmt.lhs)} * {_access(stmt.rhs)};"
            )
