"""Launches of kernels: ``<<<…>>>`` and the functions of the run-time library that launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.clang import has_attribute, unwrap, walk
from hipify_tile.analyzer.inventory_functions import Function

CONFIGURE_CALLS = ("cudaConfigureCall", "__cudaPushCallConfiguration")


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch with concrete types; cursors are None where the source does not say.

    ``kernels`` are the kernels that it may start: one, unless it goes through a table. ``pointer``
    is the callee when that is a variable.
    """

    cursor: Any
    function: Function
    kernels: tuple[Any, ...]
    pointer: Any | None
    grid: Any | None
    block: Any | None
    shared: Any | None
    stream: Any | None
    arguments: tuple[Any, ...] | None


def kernel_references(cursor: Any) -> tuple[Any, ...]:
    """Return the kernels (FUNCTION_DECL cursors) that an expression names."""
    found: dict[str, Any] = {}
    for node in (cursor, *walk(cursor)):
        if node.kind == CursorKind.DECL_REF_EXPR:
            target = node.referenced
            if (
                target is not None
                and target.kind == CursorKind.FUNCTION_DECL
                and has_attribute(target, CursorKind.CUDAGLOBAL_ATTR)
            ):
                found[target.get_usr()] = target.get_definition() or target
    return tuple(found.values())


def launch_expression(node: Any, children: list[Any], function: Function) -> Launch:
    """Return the launch that the call expression ``node`` with these children is."""
    at = next(i for i, c in enumerate(children) if c.spelling in CONFIGURE_CALLS)
    configuration = list(children[at].get_arguments())
    configuration += [None] * (4 - len(configuration))
    grid, block, shared, stream = (_written(c) for c in configuration[:4])
    kernels = kernel_references(children[0]) if at else ()
    pointer = None if kernels or not at else unwrap(children[0])
    arguments = tuple(node.get_arguments())
    return Launch(node, function, kernels, pointer, grid, block, shared, stream, arguments)


def _written(cursor: Any | None) -> Any | None:
    """Return ``cursor`` unless it is a default argument, which has no place in the source."""
    if cursor is None or cursor.extent.end.offset == 0:
        return None
    return cursor


def api_launch(node: Any, function: Function) -> Launch | None:
    """Return the launch by a call of ``cudaLaunchKernel`` or its cooperative form."""
    arguments = list(node.get_arguments())
    if len(arguments) < 3 or not node.spelling.startswith(
        ("cudaLaunchKernel", "cudaLaunchCooperativeKernel")
    ):
        return None
    if node.spelling.startswith("cudaLaunchKernelEx"):
        return None
    kernels = kernel_references(arguments[0])
    pointer = None if kernels else unwrap(arguments[0])
    shared = _written(arguments[4]) if len(arguments) > 4 else None
    stream = _written(arguments[5]) if len(arguments) > 5 else None
    # The arguments hide behind a void**: `launch_facts.py` looks through a local array.
    return Launch(
        node, function, kernels, pointer, arguments[1], arguments[2], shared, stream, None
    )
