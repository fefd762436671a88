"""Mutants of a loop emission that are wrong for rare launches only.

They change a guard ``e < n``, where ``e`` follows from a block index and ``n`` is a scalar
parameter: only the last partial block, only its last element, only grids that do not cover ``n``
elements, only grids that cover more, only the third sweep of a loop that strides over the grid.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Site = tuple[ast.AST, str, Callable[[ast.AST], None]]
"""Node, operator, and what changes the node in place."""


def guard_sites(function: ast.FunctionDef) -> Iterator[Site]:
    """Yield the sites in a prim_func that has run-time block dimensions; none for another."""
    scalars = {
        a.arg: ast.unparse(a.annotation)
        for a in function.args.args
        if a.annotation is not None and "int" in ast.unparse(a.annotation)
    }
    if "block_x" not in scalars:
        return
    values = _definitions(function)
    for node in ast.walk(function):
        if isinstance(node, (ast.If, ast.While)):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt):
                    bound = part.comparators[0]
                    axis, threads = _axis(part.left, values)
                    if axis and isinstance(bound, ast.Name) and _is_size(bound.id, scalars):
                        index, size = ast.unparse(part.left), bound.id
                        loop = isinstance(node, ast.While)
                        yield from _changes(part, index, size, axis, threads, loop)


def _is_size(name: str, scalars: dict[str, str]) -> bool:
    return scalars.get(name) == "T.int32" and not name.startswith(("block_", "grid_"))


def _changes(
    part: ast.AST, index: str, size: str, axis: str, threads: bool, loop: bool
) -> Iterator[Site]:
    block = f"block_{axis}" if threads else "1"
    total = f"grid_{axis} * {block}"
    guard = f"{index} < {size}"
    yield part, "rare-uncovered", _becomes(f"{guard} and {total} >= {size}")
    more = f"{index} == {size} and {total} >= {size} + {block}"
    yield part, "rare-overcovered", _becomes(f"{guard} or ({more})")
    if threads:
        partial = f"T.truncmod({size}, {block})"
        yield part, "rare-partial-block", _becomes(f"{index} < {size} - {partial}")
        last = f"{index} == {size} - 1 and {partial} != 0"
        yield part, "rare-last-element", _becomes(f"{guard} and not ({last})")
    if loop:
        yield part, "rare-third-sweep", _becomes(f"{guard} and {index} < 2 * {total}")


def _becomes(text: str) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        new = ast.parse(text, mode="eval").body
        node.__class__ = new.__class__
        node.__dict__ = new.__dict__

    return change


def _definitions(function: ast.FunctionDef) -> dict[str, set[str]]:
    """The names that the values assigned to each variable are computed from."""
    out: dict[str, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            out.setdefault(node.targets[0].id, set()).update(_names(node.value))
    return out


def _names(expr: ast.AST) -> set[str]:
    """The variables in ``expr``, but none of what is loaded from memory."""
    if isinstance(expr, ast.Subscript):
        return set()
    if isinstance(expr, ast.Name):
        return {expr.id}
    return set().union(*(_names(child) for child in ast.iter_child_nodes(expr)))


def _axis(expr: ast.expr, values: dict[str, set[str]]) -> tuple[str, bool]:
    """The axis of the one block index that ``expr`` follows from, and whether a thread index takes
    part; an empty axis for none or several.
    """
    seen: set[str] = set()
    todo = _names(expr)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo |= values.get(name, set())
    found = [a for a in "xyz" if f"b{a}" in seen]
    if len(found) != 1:
        return "", False
    threads = bool(seen & {f"t{found[0]}", f"thread_{found[0]}"})
    covers = f"block_{found[0]}" in seen  # else the block's extent is not what counts
    return (found[0], threads) if covers or not threads else ("", False)
