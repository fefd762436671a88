"""Forward substitution of index locals.

::

    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m) out[row] = 0;         →   if (blockIdx.y * … < m) out[blockIdx.y * …] = 0;

Only integer and bool locals that are assigned once, by an expression without loads over names that
never change, and only where every use follows the definition in its statement list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hipify_tile.ir.expr import Expr, Load, Var, transform, walk
from hipify_tile.ir.stmt import Assign, Block, Leave, Stmt, exprs, map_bodies, map_exprs, walk_stmts
from hipify_tile.ir.types import Kind


def names(expr: Expr) -> set[str]:
    """Names of the scalar variables that ``expr`` reads."""
    return {node.name for node in walk(expr) if isinstance(node, Var)}


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Replace variables by expressions of the same type."""
    if not values:
        return expr
    return transform(expr, lambda e: values.get(e.name, e) if isinstance(e, Var) else e)


def substitute_all(body: Sequence[Stmt], values: Mapping[str, Expr]) -> tuple[Stmt, ...]:
    """``substitute`` in every expression of ``body`` (targets of assignments stay)."""
    return tuple(
        map_bodies(
            map_exprs(stmt, lambda e: substitute(e, values)), lambda b: substitute_all(b, values)
        )
        for stmt in body
    )


def splice_blocks(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """``label: { S }`` → ``S`` where nothing leaves the block."""
    left = {s.label for s in walk_stmts(tuple(body)) if isinstance(s, Leave)}

    def visit(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for stmt in stmts:
            inner = map_bodies(stmt, visit)
            spliced = isinstance(inner, Block) and inner.label not in left
            result.extend(inner.body if spliced and isinstance(inner, Block) else (inner,))
        return tuple(result)

    return visit(tuple(body))


def forward_index_locals(body: tuple[Stmt, ...]) -> tuple[tuple[Stmt, ...], dict[str, Expr]]:
    """Return the body without its index locals, and the definitions that were substituted."""
    counts = Counter(s.target for s in walk_stmts(body) if isinstance(s, Assign))
    kept: set[str] = {name for name, n in counts.items() if n > 1}
    while True:
        definitions: dict[str, Expr] = {}
        result = _visit(body, {}, counts, kept, definitions)
        reads = {n for s in walk_stmts(result) for e in exprs(s) for n in names(e)}
        if not (late := reads & definitions.keys()):
            return result, definitions
        kept |= late


def _visit(
    stmts: tuple[Stmt, ...],
    outer: Mapping[str, Expr],
    counts: Mapping[str, int],
    kept: set[str],
    definitions: dict[str, Expr],
) -> tuple[Stmt, ...]:
    values = dict(outer)
    result: list[Stmt] = []
    for original in stmts:
        stmt = map_exprs(original, lambda e: substitute(e, values))
        if isinstance(stmt, Assign) and stmt.target not in kept and _movable(stmt.value, counts):
            values[stmt.target] = definitions[stmt.target] = stmt.value
        else:
            result.append(map_bodies(stmt, lambda b: _visit(b, values, counts, kept, definitions)))
    return tuple(result)


def _movable(value: Expr, assigned: Mapping[str, int]) -> bool:
    if value.type.kind is Kind.FLOAT or any(isinstance(node, Load) for node in walk(value)):
        return False
    return not names(value) & assigned.keys()
