"""Dependence test: may the iterations of parallel axes run in any order, or at once?

Conservative. Iterations are independent when every stored buffer is accessed, stored *and*
loaded, at one index expression only, and that index is injective over the axes: then each
iteration owns its elements. Buffers that are never stored may be read anywhere.

Aliasing. Pointer parameters may point into one another. For buffers ``x`` (read) and ``y``
(written):

* equal pointers and equal index: an iteration reads only the element that it owns, in its own
  order;
* overlap at a distance (``k<<<…>>>(a, a + 1)``), or a read of another index: an element is
  written by
  one thread and read by another with no barrier between them. The original is a data race, its
  result is whatever the schedule gives, so it is outside the contract (execution under several
  schedules reports it as TM5004);
* a load *after* a store to another buffer in the same iteration is the one well-defined case in
  which aliasing shows: it is refused unless the loaded or the stored pointer is ``__restrict__``.

Two outputs that are one pointer keep their order of stores within an iteration.

Does not handle: loops, atomics, barriers, shared memory (the caller has excluded them), several
views of one stored buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hipify_tile.analyzer.affine import (
    Polynomial,
    at_most,
    delinearize,
    integer_form,
    obligation_conditions,
    real_expr,
    upper_bounds,
)
from hipify_tile.ir.expr import Cast, Const, Expr, Load, walk
from hipify_tile.ir.simt import Buffer
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Axis, Stmt, Store, bodies, exprs, walk_stmts
from hipify_tile.ir.types import F64, ScalarType


@dataclass(frozen=True, slots=True)
class Dependent:
    """Independence is not shown; ``reason`` says why in a few words."""

    reason: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Independent:
    """Iterations are independent under ``conditions`` on launch and parameters."""

    conditions: tuple[Expr, ...]


def independent(
    body: Sequence[Stmt],
    axes: Sequence[Axis],
    buffers: Mapping[str, Buffer],
    types: Mapping[str, ScalarType],
) -> Independent | Dependent:
    """Test the iterations of ``axes`` around ``body``; ``types`` are those of all scalar names."""
    stores = [s for s in walk_stmts(tuple(body)) if isinstance(s, Store)]
    if not stores:
        return Dependent("nothing is stored")
    if late := _load_after_foreign_store(body, buffers):
        return Dependent("a load may read what another buffer's store wrote", late.span)
    conditions: dict[Expr, None] = {}
    for name in dict.fromkeys(store.buffer for store in stores):
        sites = [s.indices for s in stores if s.buffer == name]
        sites += [load.indices for load in _loads(body) if load.buffer == name]
        first = next(s for s in stores if s.buffer == name)
        if len({_element(indices) for indices in sites}) != 1:
            return Dependent(f"{name} is accessed at several elements", first.span)
        for indices in dict.fromkeys(sites):
            result = injective(indices, axes, types)
            if result is None:
                return Dependent(f"iterations may write the same element of {name}", first.span)
            conditions |= dict.fromkeys(result)
    return Independent(tuple(conditions))


def injective(
    indices: Sequence[Expr], axes: Sequence[Axis], types: Mapping[str, ScalarType]
) -> tuple[Expr, ...] | None:
    """Conditions under which distinct points have distinct ``indices``; None if unknown."""
    if len(indices) != 1:
        return None
    form = integer_form(indices[0])
    if form is None or not form.value.names() <= set(types):
        return None
    shape = delinearize(form.value, [axis.var.name for axis in axes])
    if shape is None:
        return None
    extents = {axis.var.name: axis.extent for axis in axes}
    obligations = list(form.obligations)
    conditions: list[Expr] = []
    for axis, pitch in shape.pitches:
        bound = next((f for f in upper_bounds(extents[axis]) if f.value == pitch), None)
        if bound is not None:
            obligations += bound.obligations
        else:
            conditions.append(at_most(Cast(extents[axis], F64), real_expr(pitch, types)))
    conditions += _positive(shape.dimensions[-1].stride, types)
    held = obligation_conditions(obligations, axes, types)
    return None if held is None else (*conditions, *held)


def _positive(stride: Polynomial, types: Mapping[str, ScalarType]) -> list[Expr]:
    if stride.value is not None:
        return []
    return [at_most(Const(1.0, F64), real_expr(stride, types))]


def _element(indices: tuple[Expr, ...]) -> Polynomial | tuple[Expr, ...]:
    """What names the element: equal polynomials (or expressions) are the same element."""
    if len(indices) == 1 and (form := integer_form(indices[0])) is not None:
        return form.value
    return indices


def _loads(body: Sequence[Stmt]) -> list[Load]:
    return [
        node
        for stmt in walk_stmts(tuple(body))
        for expr in exprs(stmt)
        for node in walk(expr)
        if isinstance(node, Load)
    ]


def _load_after_foreign_store(body: Sequence[Stmt], buffers: Mapping[str, Buffer]) -> Load | None:
    """The first load that follows, on some path, a store to a buffer that may alias its own."""
    found: list[Load] = []

    def visit(stmts: Sequence[Stmt], stored: frozenset[str]) -> frozenset[str]:
        for stmt in stmts:
            found.extend(
                node
                for expr in exprs(stmt)
                for node in walk(expr)
                if isinstance(node, Load)
                and any(_may_alias(buffers[node.buffer], buffers[name]) for name in stored)
            )
            if isinstance(stmt, Store):
                stored |= {stmt.buffer}
            stored = stored.union(*(visit(nested, stored) for nested in bodies(stmt)))
        return stored

    visit(body, frozenset())
    return found[0] if found else None


def _may_alias(a: Buffer, b: Buffer) -> bool:
    return a.name != b.name and not (a.restrict or b.restrict)
