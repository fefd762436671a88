"""The executable specification of ``simt.Kernel`` and ``loop.Nest``: what a well-formed program is.

``violations`` returns every broken rule as text; an empty list means well-formed. It checks types
(operands, conversions, stores), names (declared, unique), labels (enclosing), ranks, and which
statements a level allows. It says nothing about meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator

from hipify_tile.ir.expr import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Index,
    IndexKind,
    Load,
    Logical,
    Select,
    Unary,
    UnaryOp,
    Var,
    children,
)
from hipify_tile.ir.intrinsics import INTRINSICS
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.printer import print_expr
from hipify_tile.ir.simt import Buffer, Kernel, Scope
from hipify_tile.ir.stmt import (
    KERNEL,
    Assign,
    AtomicOp,
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
from hipify_tile.ir.types import BOOL, U32, ScalarType

_BITWISE = (BinaryOp.REM, BinaryOp.SHL, BinaryOp.SHR, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)


def violations(item: Kernel | Nest) -> list[str]:
    """Return the rules that ``item`` breaks, in program order."""
    return list(_Checker(item).check())


class _Checker:
    def __init__(self, item: Kernel | Nest) -> None:
        self.item = item
        self.is_simt = isinstance(item, Kernel)
        self.buffers: dict[str, Buffer] = {b.name: b for b in item.buffers}
        self.assignable: dict[str, ScalarType] = dict(item.locals)
        self.readable: dict[str, ScalarType] = {
            p.name: p.dtype for p in item.params if not p.pointer
        }
        if isinstance(item, Nest):
            self.assignable |= dict(item.block_locals)
            self.readable |= {a.var.name: a.var.type for a in (*item.grid, *item.block)}
            self.readable |= {symbol.name: symbol.type for symbol in item.launch}
        self.loop_vars: set[str] = set()

    def check(self) -> Iterator[str]:
        yield from self._declarations()
        yield from self._stmts(self.item.body, (KERNEL,))

    def _declarations(self) -> Iterator[str]:
        names = [
            *(p.name for p in self.item.params if not p.pointer),
            *self.buffers,
            *(n for n, _ in self.item.locals),
        ]
        if isinstance(self.item, Nest):
            names += [n for n, _ in self.item.block_locals]
            names += [a.var.name for a in (*self.item.grid, *self.item.block)]
            names += [symbol.name for symbol in self.item.launch]
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{name} is declared {count} times"
        pointers = {p.name for p in self.item.params if p.pointer}
        for p in self.item.params:
            if not 0 <= p.argument < len(self.item.argument_sizes):
                yield f"parameter {p.name} names argument {p.argument}, which does not exist"
        for b in self.item.buffers:
            storage = b.storage or b.name
            if b.scope in (Scope.PARAM, Scope.DYNAMIC_SHARED):
                if b.shape:
                    yield f"buffer {b.name} has a shape although its extent is unknown"
            elif not b.shape or any(n <= 0 for n in b.shape):
                yield f"buffer {b.name} has no positive static shape"
            if b.scope is Scope.PARAM and storage not in pointers:
                yield f"buffer {b.name} has storage {storage}, which is no pointer parameter"
            if b.scope is Scope.BLOCK_LOCAL and self.is_simt:
                yield f"buffer {b.name} is block-local in a simt kernel"
            if b.scope is Scope.GLOBAL and not b.symbol:
                yield f"buffer {b.name} is global and names no symbol"
            peers = [o for o in self.item.buffers if (o.storage or o.name) == storage]
            if len({o.scope for o in peers}) > 1:
                yield f"views of {storage} disagree on the scope"
            if len(peers) > 1 and any(len(o.shape) > 1 for o in peers):
                yield f"{storage} has several views, one of which is multi-dimensional"

    def _stmts(self, body: tuple[Stmt, ...], labels: tuple[str, ...]) -> Iterator[str]:
        for stmt in body:
            yield from self._stmt(stmt, labels)

    def _scalar(self, expr: Expr, type_: ScalarType, what: str) -> Iterator[str]:
        yield from self._expr(expr)
        if expr.type != type_:
            yield f"{what} has type {expr.type}, not {type_}: {print_expr(expr)}"

    def _indices(self, name: str, indices: tuple[Expr, ...], rank: int = 0) -> Iterator[str]:
        buffer = self.buffers.get(name)
        if buffer is None:
            yield f"{name} is not a buffer"
        elif len(indices) != (rank or max(1, len(buffer.shape))):
            yield f"{name} is indexed with {len(indices)} indices"
        for index in indices:
            yield from self._expr(index)
            if not index.type.is_integer:
                yield f"index of {name} has type {index.type}"

    def _enter(self, label: str, labels: tuple[str, ...]) -> Iterator[str]:
        if label in labels:
            yield f"label {label} is nested in itself"

    def _stmt(self, stmt: Stmt, labels: tuple[str, ...]) -> Iterator[str]:
        match stmt:
            case Assign():
                yield from self._target(stmt.target, stmt.value.type)
                yield from self._expr(stmt.value)
            case Store():
                yield from self._indices(stmt.buffer, stmt.indices)
                if stmt.buffer in self.buffers:
                    what = f"value stored to {stmt.buffer}"
                    yield from self._scalar(stmt.value, self.buffers[stmt.buffer].dtype, what)
                    yield from self._is_written(stmt.buffer)
            case AtomicRMW():
                yield from self._atomic(stmt)
            case If():
                yield from self._scalar(stmt.cond, BOOL, "if condition")
                yield from self._stmts(stmt.then, labels)
                yield from self._stmts(stmt.orelse, labels)
            case For():
                yield from self._for(stmt, labels)
            case While():
                yield from self._enter(stmt.label, labels)
                yield from self._scalar(stmt.cond, BOOL, "while condition")
                yield from self._stmts(stmt.body, (*labels, stmt.label))
            case Block():
                yield from self._enter(stmt.label, labels)
                yield from self._stmts(stmt.body, (*labels, stmt.label))
            case Leave():
                if stmt.label not in labels:
                    yield f"leave {stmt.label}: no enclosing statement carries this label"
            case Barrier():
                if not self.is_simt:
                    yield "barrier in a loop nest"
            case Loop():
                if self.is_simt:
                    yield "loop over axes in a simt kernel"
                yield from self._axes(stmt.axes, stmt.body, labels)
            case Contraction():
                if self.is_simt:
                    yield "contraction in a simt kernel"
                yield from self._contraction(stmt)

    def _is_written(self, name: str) -> Iterator[str]:
        if not self.buffers[name].written:
            yield f"buffer {name} is stored to but not marked as written"

    def _target(self, name: str, type_: ScalarType) -> Iterator[str]:
        if name in self.loop_vars:
            yield f"{name} is assigned inside the loop it counts"
        elif name not in self.assignable:
            yield f"{name} is assigned but is no local"
        elif self.assignable[name] != type_:
            yield f"{name} has type {self.assignable[name]} but is assigned {type_}"

    def _atomic(self, stmt: AtomicRMW) -> Iterator[str]:
        yield from self._indices(stmt.buffer, stmt.indices)
        if len(stmt.operands) != (2 if stmt.op is AtomicOp.CAS else 1):
            yield f"atomic {stmt.op} has {len(stmt.operands)} operands"
        if stmt.buffer in self.buffers:
            dtype = self.buffers[stmt.buffer].dtype
            for operand in stmt.operands:
                yield from self._scalar(operand, dtype, f"operand of atomic {stmt.op}")
            if stmt.result is not None:
                yield from self._target(stmt.result, dtype)
            yield from self._is_written(stmt.buffer)

    def _for(self, stmt: For, labels: tuple[str, ...]) -> Iterator[str]:
        yield from self._enter(stmt.label, labels)
        var = stmt.var
        if not var.type.is_integer:
            yield f"loop variable {var.name} has type {var.type}"
        if self.assignable.get(var.name) != var.type:
            yield f"loop variable {var.name} is not a local of type {var.type}"
        if stmt.step == 0:
            yield f"loop over {var.name} has step 0"
        yield from self._scalar(stmt.start, var.type, f"start of {var.name}")
        yield from self._scalar(stmt.stop, var.type, f"stop of {var.name}")
        if var.name in self.loop_vars:
            yield f"loop variable {var.name} is in use by an enclosing loop"
        self.loop_vars.add(var.name)
        yield from self._stmts(stmt.body, (*labels, stmt.label))
        self.loop_vars.discard(var.name)

    def _axes(
        self, axes: tuple[Axis, ...], body: tuple[Stmt, ...], labels: tuple[str, ...]
    ) -> Iterator[str]:
        added = yield from self._bind(axes)
        yield from self._stmts(body, labels)
        for name in added:
            del self.readable[name]

    def _bind(self, axes: tuple[Axis, ...]) -> Generator[str, None, list[str]]:
        added: list[str] = []
        for axis in axes:
            yield from self._expr(axis.extent)
            if not axis.extent.type.is_integer or axis.extent.type.bits < axis.var.type.bits:
                yield f"extent of {axis.var.name} has type {axis.extent.type}"
            if axis.var.name not in self.readable:
                self.readable[axis.var.name] = axis.var.type
                added.append(axis.var.name)
        return added

    def _contraction(self, stmt: Contraction) -> Iterator[str]:
        added = yield from self._bind(stmt.axes)
        for access in (stmt.out, stmt.lhs, stmt.rhs):
            yield from self._indices(access.buffer, access.indices, len(access.strides))
            for stride in access.strides:
                yield from self._expr(stride)
        self.readable[stmt.accumulator.name] = stmt.accumulator.type
        yield from self._expr(stmt.init)
        yield from self._expr(stmt.epilogue)
        if stmt.out.buffer in self.buffers:
            if stmt.epilogue.type != self.buffers[stmt.out.buffer].dtype:
                yield f"epilogue of {stmt.out.buffer} has type {stmt.epilogue.type}"
            yield from self._is_written(stmt.out.buffer)
        for name in (*added, stmt.accumulator.name):
            self.readable.pop(name, None)

    def _expr(self, expr: Expr) -> Iterator[str]:
        if not isinstance(expr, Load):
            for child in children(expr):
                yield from self._expr(child)
        broken = False
        match expr:
            case Const():
                yield from _const(expr)
            case Var():
                known = self.assignable.get(expr.name, self.readable.get(expr.name))
                if known is None:
                    yield f"{expr.name} is not declared"
                elif known != expr.type:
                    yield f"{expr.name} has type {known} but is read as {expr.type}"
            case Index():
                broken = expr.type != U32 or expr.axis not in (0, 1, 2)
                if not self.is_simt and expr.kind in (IndexKind.THREAD, IndexKind.BLOCK):
                    yield f"{print_expr(expr)} in a loop nest"
            case Unary(op=UnaryOp.NOT):
                broken = expr.type != BOOL or expr.operand.type != BOOL
            case Unary():
                broken = expr.operand.type != expr.type or expr.type == BOOL
                broken |= expr.op is UnaryOp.BITNOT and not expr.type.is_integer
            case Binary():
                broken = expr.lhs.type != expr.type or expr.rhs.type != expr.type
                broken |= expr.type == BOOL
                broken |= expr.op in _BITWISE and not expr.type.is_integer
            case Compare():
                broken = expr.lhs.type != expr.rhs.type or expr.type != BOOL
            case Logical():
                broken = {expr.lhs.type, expr.rhs.type, expr.type} != {BOOL}
            case Select():
                broken = expr.cond.type != BOOL
                broken |= {expr.then.type, expr.orelse.type} != {expr.type}
            case Cast():
                pass
            case Bitcast():
                broken = expr.operand.type.bits != expr.type.bits
            case Load():
                yield from self._indices(expr.buffer, expr.indices)
                if expr.buffer in self.buffers:
                    broken = self.buffers[expr.buffer].dtype != expr.type
            case Call():
                yield from _call(expr)
        if broken:
            types = ", ".join(str(c.type) for c in children(expr))
            yield f"ill-typed ({types} → {expr.type}): {print_expr(expr)}"


def _const(expr: Const) -> Iterator[str]:
    value = expr.value
    match expr.type:
        case t if t == BOOL:
            ok = isinstance(value, bool)
        case t if t.is_integer:
            signed = t.kind.value == "int"
            low = -(1 << (t.bits - 1)) if signed else 0
            ok = not isinstance(value, bool) and isinstance(value, int)
            ok = ok and low <= value < low + (1 << t.bits)
        case _:
            ok = isinstance(value, float)
    if not ok:
        yield f"literal {value!r} is no {expr.type}"


def _call(expr: Call) -> Iterator[str]:
    row = INTRINSICS.get(expr.name)
    if row is None:
        yield f"{expr.name} is no intrinsic"
        return
    if len(expr.args) != row.arity:
        yield f"{expr.name} has {len(expr.args)} arguments"
        return
    type_ = expr.args[0].type
    ok = type_ in row.types and expr.type == row.result_type(type_)
    if not ok or any(a.type != row.operand_type(i, type_) for i, a in enumerate(expr.args)):
        yield f"ill-typed call: {print_expr(expr)}"
