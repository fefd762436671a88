"""Recognise an elementwise nest: independent points, straight code, no inner loops.

::

    parallel y < min(h, …), x < min(w, …):          the same nest, with the conditions
        out[y * w + x] = f(in[y * w + x], …)    →    under which its points are independent

"Elementwise" is about the outputs: every output element belongs to one point. Inputs that are never
stored may be read at any index (a stencil or a transpose is elementwise in this sense). Loops
inside a point, and outputs that two points may share, are refused.
"""

from __future__ import annotations

from dataclasses import replace

from hipify_tile.analyzer.dependence import Dependent, independent
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.stmt import Assign, If, Loop, Store, walk_stmts
from hipify_tile.rewriter.raise_.result import NotRaised
from hipify_tile.rewriter.raise_.threads import scalar_types


def recognise_elementwise(nest: Nest) -> Nest | NotRaised:
    """Return ``nest`` with its independence conditions added to ``assumes``, or why not."""
    match nest.body:
        case (Loop() as loop,):
            pass
        case _:
            return NotRaised("the nest is not one parallel loop", nest.span)
    for stmt in walk_stmts(loop.body):
        if not isinstance(stmt, (Assign, Store, If)):
            return NotRaised("a thread runs a loop", stmt.span)
    types = scalar_types(nest) | {axis.var.name: axis.var.type for axis in loop.axes}
    result = independent(loop.body, loop.axes, {b.name: b for b in nest.buffers}, types)
    if isinstance(result, Dependent):
        return NotRaised(result.reason, result.span or nest.span)
    return replace(nest, assumes=tuple(dict.fromkeys((*nest.assumes, *result.conditions))))
