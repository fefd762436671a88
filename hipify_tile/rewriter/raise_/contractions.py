"""Raising to contractions: the naive matrix product becomes a named operation.

::

    parallel row < min(m, …), col < min(n, …):        contraction row, col | k < kk:
        acc = 0                                           out: c[row, col]
        for k in 0 … kk:                             →    lhs: a[row, k]   rhs: b[k, col]
            acc = acc + a[row*kk + k] * b[k*n + col]      epilogue: alpha * acc + beta * c[…]
        c[row*n + col] = alpha * acc + beta * c[…]

Accepted: float32 or float64 throughout, either factor order, any of the four transposes
(recognised by which axis is contiguous), any row pitch, an epilogue of scalars, the output's own
element and inputs. The sum must start at +0, run over ``0 … kk`` in steps of one without exits,
and accumulate in a local: a kernel that accumulates in memory, subtracts, fuses (``fma``),
converts or scales inside the sum is not this contraction and is refused.

No aliasing of the output with an input is needed as a condition: such a kernel reads elements that
other threads write, a race in the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hipify_tile.analyzer.affine import (
    ONE,
    Obligation,
    Polynomial,
    delinearize,
    integer_form,
    obligation_conditions,
)
from hipify_tile.analyzer.dependence import injective
from hipify_tile.ir.expr import Binary, BinaryOp, Const, Expr, Load, Var, walk
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Buffer, Scope
from hipify_tile.ir.stmt import (
    Access,
    Assign,
    Axis,
    AxisKind,
    Contraction,
    For,
    Loop,
    Stmt,
    Store,
)
from hipify_tile.ir.types import F32, F64, I32, ScalarType
from hipify_tile.rewriter.raise_.expressions import polynomial_expr
from hipify_tile.rewriter.raise_.forward import names, substitute
from hipify_tile.rewriter.raise_.result import NotRaised
from hipify_tile.rewriter.raise_.threads import scalar_types


@dataclass(frozen=True, slots=True)
class _Sum:
    """``acc = 0; for k < terms: acc += lhs * rhs``, then the store."""

    accumulator: Var
    axis: Axis
    lhs: Load
    rhs: Load
    store: Store


def recognise_contraction(nest: Nest) -> Nest | NotRaised:
    """Return the nest as one ``Contraction`` with row-major two-dimensional accesses, or why not.

    The accesses of the result have two indices (axis variables), with the row pitch in ``strides``.
    """
    match nest.body:
        case (Loop(axes=(_, _)) as loop,):
            pass
        case _:
            return NotRaised("a thread runs a loop and there is one parallel axis", nest.span)
    found = _match_sum(loop.body)
    if isinstance(found, NotRaised):
        return found
    buffers = {b.name: b for b in nest.buffers}
    if (refusal := _screen(found, buffers)) is not None:
        return refusal
    types = scalar_types(nest)
    axes = (*loop.axes, found.axis)
    if not names(found.axis.extent) <= types.keys():
        return NotRaised("the length of the sum is not fixed by the parameters", found.store.span)
    all_types = types | {axis.var.name: axis.var.type for axis in axes}
    if not names(found.store.value) <= all_types.keys() | {found.accumulator.name}:
        return NotRaised("the stored value reads a variable", found.store.span)
    obligations: list[Obligation] = []
    accesses: list[Access] = []
    for node in (found.store, found.lhs, found.rhs):
        access = _two_dimensional(node.buffer, node.indices, axes, obligations, types)
        if access is None:
            return NotRaised(f"{node.buffer} is not accessed as a row-major matrix", node.span)
        accesses.append(access)
    out, lhs, rhs = accesses
    row, col = (_axis_name(i) for i in out.indices)
    k = found.axis.var.name
    if k in (row, col):
        return NotRaised("the output depends on the index of the sum", found.store.span)
    if {row, k} != _axis_names(lhs):
        lhs, rhs = rhs, lhs
    if {row, k} != _axis_names(lhs) or {col, k} != _axis_names(rhs):
        return NotRaised("the factors do not span rows and columns of the output", found.lhs.span)
    independent = injective(found.store.indices, loop.axes, all_types)
    held = obligation_conditions(obligations, axes, all_types)
    if independent is None or held is None:
        return NotRaised("threads may write the same element", found.store.span)
    by_name = {axis.var.name: axis for axis in loop.axes}
    contraction = Contraction(
        axes=(by_name[row], by_name[col], found.axis),
        out=out,
        lhs=lhs,
        rhs=rhs,
        init=Const(0.0, found.accumulator.type),
        accumulator=found.accumulator,
        epilogue=found.store.value,
        span=found.store.span,
    )
    conditions = (*nest.assumes, *independent, *held)
    return replace(nest, body=(contraction,), assumes=tuple(dict.fromkeys(conditions)))


def _match_sum(body: Sequence[Stmt]) -> _Sum | NotRaised:
    match tuple(body):
        case (
            Assign(target=acc, value=Const(value=zero, type=dtype)),
            For(var=k, start=Const(value=0), stop=stop, step=1, body=inner) as loop,
            Store() as store,
        ):
            pass
        case _:
            return NotRaised("a thread's work is not one sum and one store")
    if dtype not in (F32, F64) or str(float(zero)) != "0.0":
        return NotRaised("the sum does not start at zero in float32 or float64", loop.span)
    if k.type != I32 or stop.type != I32 or any(isinstance(n, Load) for n in walk(stop)):
        return NotRaised("the sum's bounds are not plain int expressions", loop.span)
    term = _single_update(inner, acc, dtype)
    if term is None:
        return NotRaised("the loop is not a sum of products", loop.span)
    lhs, rhs = term
    if acc in {n for index in store.indices for n in names(index)}:
        return NotRaised("the sum is used as an index", store.span)
    if not any(isinstance(n, Var) and n.name == acc for n in walk(store.value)):
        return NotRaised("the sum is not stored", store.span)
    axis = Axis(k, stop, AxisKind.REDUCTION)
    return _Sum(Var(acc, dtype), axis, lhs, rhs, store)


def _single_update(body: Sequence[Stmt], acc: str, dtype: ScalarType) -> tuple[Load, Load] | None:
    """The factors of ``acc = acc + lhs * rhs``; locals that hold a factor are looked through."""
    if not body:
        return None
    values: dict[str, Expr] = {}
    *loads, update = body
    for stmt in loads:
        if not isinstance(stmt, Assign) or not isinstance(stmt.value, Load):
            return None
        if stmt.target == acc or stmt.target in values:
            return None
        values[stmt.target] = stmt.value
    if not isinstance(update, Assign) or update.target != acc:
        return None
    match substitute(update.value, values):
        case Binary(op=BinaryOp.ADD, lhs=Var(name=name), rhs=product, type=t) if name == acc:
            pass
        case Binary(op=BinaryOp.ADD, lhs=product, rhs=Var(name=name), type=t) if name == acc:
            pass
        case _:
            return None
    match product:
        case Binary(op=BinaryOp.MUL, lhs=Load() as a, rhs=Load() as b, type=p) if p == t == dtype:
            return a, b
        case _:
            return None


def _screen(found: _Sum, buffers: Mapping[str, Buffer]) -> NotRaised | None:
    """Types agree, factors are not stored, the epilogue reads only what no other thread writes."""
    dtype = found.accumulator.type
    for name in (found.lhs.buffer, found.rhs.buffer, found.store.buffer):
        buffer = buffers[name]
        if buffer.dtype != dtype or buffer.scope is not Scope.PARAM:
            return NotRaised(f"{name} is not a pointer to {dtype}", found.store.span)
        if buffer.storage not in ("", name):
            return NotRaised(f"{name} is a view of another type", found.store.span)
    if len({found.store.buffer, found.lhs.buffer, found.rhs.buffer}) != 3:
        return NotRaised("one matrix plays two parts", found.store.span)
    if found.axis.var.name in names(found.store.value):
        return NotRaised("the stored value depends on the index of the sum", found.store.span)
    for node in walk(found.store.value):
        if isinstance(node, Load):
            own = node.buffer == found.store.buffer and node.indices == found.store.indices
            if not own and buffers[node.buffer].written:
                return NotRaised(f"{node.buffer} is accessed at several elements", node.span)
            if node.buffer in (found.lhs.buffer, found.rhs.buffer):
                return NotRaised(f"{node.buffer} is a factor and read beside the sum", node.span)
    return None


def _two_dimensional(
    buffer: str,
    indices: tuple[Expr, ...],
    axes: Sequence[Axis],
    obligations: list[Obligation],
    types: Mapping[str, ScalarType],
) -> Access | None:
    """``x[i*pitch + j]`` → ``x[i, j]`` and its pitch; None unless contiguous, without offset."""
    form = integer_form(indices[0]) if len(indices) == 1 else None
    if form is None:
        return None
    occurring = [axis for axis in axes if axis.var.name in form.value.names()]
    if len(occurring) != 2:
        return None
    shape = delinearize(form.value, [axis.var.name for axis in occurring])
    if shape is None or shape.offset != Polynomial() or shape.dimensions[1].stride != ONE:
        return None
    pitch = polynomial_expr(shape.dimensions[0].stride, types)
    if pitch is None:
        return None
    obligations.extend(form.obligations)
    variables = {axis.var.name: axis.var for axis in axes}
    return Access(
        buffer,
        tuple(variables[dimension.axis] for dimension in shape.dimensions),
        (pitch, Const(1, I32)),
    )


def _axis_name(index: Expr) -> str:
    assert isinstance(index, Var)
    return index.name


def _axis_names(access: Access) -> set[str]:
    return {_axis_name(index) for index in access.indices}
