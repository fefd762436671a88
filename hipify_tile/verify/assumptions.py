"""Launch conditions of an emission (``Emission.assumes``), held against cases and launch sites.

A condition is an expression over scalar leaves, ``grid_x`` … ``block_z`` and ``shared_bytes``. It
is decided only where everything it names is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.ir.expr import Expr, Index, IndexKind, Var, transform
from hipify_tile.ir.simt import Kernel
from hipify_tile.verify.cases import Launch
from hipify_tile.verify.evaluate import UnevaluableError, Value, evaluate

Names = Mapping[str, Value]


def holds(assumption: Expr, names: Names) -> bool | None:
    """Whether the condition is true; None where ``names`` do not tell."""

    def launch_value(expr: Expr) -> Expr:
        match expr:
            case Index(kind=IndexKind.BLOCK_DIM):
                return Var(f"block_{'xyz'[expr.axis]}", expr.type)
            case Index(kind=IndexKind.GRID_DIM):
                return Var(f"grid_{'xyz'[expr.axis]}", expr.type)
            case _:
                return expr

    try:
        return bool(evaluate(transform(assumption, launch_value), names))
    except UnevaluableError:
        return None


def geometry(launch: Launch) -> dict[str, Value]:
    """Grid, block and dynamic shared memory of ``launch`` by name."""
    names: dict[str, Value] = {"shared_bytes": launch.shared_bytes}
    for axis, letter in enumerate("xyz"):
        names[f"grid_{letter}"] = launch.grid[axis]
        names[f"block_{letter}"] = launch.block[axis]
    return names


def launch_names(launch: Launch) -> dict[str, Value]:
    """Scalar leaves and geometry of ``launch`` by name."""
    return {**launch.scalars, **geometry(launch)}


def broken_by(assumption: Expr, kernel: Kernel, facts: Sequence[LaunchFact]) -> LaunchFact | None:
    """The first launch site whose own values, as far as they are known, break the condition."""
    for fact in facts:
        if holds(assumption, dict(_site_names(kernel, fact))) is False:
            return fact
    return None


def _site_names(kernel: Kernel, fact: LaunchFact) -> Iterator[tuple[str, Value]]:
    hints = dict(fact.hints)
    leaves = Counter(p.argument for p in kernel.params)
    parts: list[tuple[str, Expr | None]] = [("shared_bytes", fact.shared_bytes)]
    for kind, dims in (("grid", fact.grid), ("block", fact.block)):
        parts += [(f"{kind}_{letter}", dim) for letter, dim in zip("xyz", dims, strict=True)]
    if len(fact.arguments) == len(kernel.argument_sizes):
        for p in kernel.params:
            if not p.pointer and p.offset == 0 and leaves[p.argument] == 1:
                parts.append((p.name, fact.arguments[p.argument]))
    for name, expr in parts:
        if expr is None:
            continue
        try:
            yield name, evaluate(expr, hints)
        except UnevaluableError:
            continue
