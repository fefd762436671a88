"""The raising pipeline: ``simt.Kernel`` → raised ``loop.Nest`` → ``tile.Program`` → TileLang.

A kernel that is not recognised is no error: the level has no emission and a note says why.
"""

from __future__ import annotations

from dataclasses import replace

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.loop import Nest
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.stmt import Contraction
from hipify_tile.ir.types import F64
from hipify_tile.rewriter.emit.provenance import Provenance, provenance
from hipify_tile.rewriter.emit.tile import emit_program
from hipify_tile.rewriter.model import Level, LevelResult
from hipify_tile.rewriter.raise_.contractions import recognise_contraction
from hipify_tile.rewriter.raise_.elementwise import recognise_elementwise
from hipify_tile.rewriter.raise_.result import NotRaised
from hipify_tile.rewriter.raise_.threads import lower_threads
from hipify_tile.rewriter.schedule.tile import schedule


def raise_kernel(kernel: Kernel) -> Nest | NotRaised:
    """Return the nest of ``kernel`` with its named operation, or why there is none."""
    nest = lower_threads(kernel)
    if isinstance(nest, NotRaised):
        return nest
    elementwise = recognise_elementwise(nest)
    if isinstance(elementwise, Nest):
        return elementwise
    contraction = recognise_contraction(nest)
    return (
        contraction if isinstance(contraction, Nest) else _more_specific(elementwise, contraction)
    )


def _more_specific(elementwise: NotRaised, contraction: NotRaised) -> NotRaised:
    """A kernel with a loop was no candidate for elementwise: report the contraction's reason."""
    return contraction if elementwise.reason == "a thread runs a loop" else elementwise


def raise_to_tile(kernel: Kernel, origin: Provenance | None = None) -> LevelResult:
    """Emit ``kernel`` at level ``tile``; TM2002 where nothing matches."""
    nest = raise_kernel(kernel)
    if isinstance(nest, NotRaised):
        note = f"not raised: {nest.reason}"
        return LevelResult(
            Level.TILE,
            None,
            (diagnostic("TM2002", nest.span or kernel.span, notes=(note,)),),
        )
    emission = emit_program(schedule(nest), origin or provenance(kernel, ""))
    diagnostics: tuple[Diagnostic, ...] = ()
    match nest.body:
        case (Contraction() as op,) if op.accumulator.type == F64:
            diagnostics = (diagnostic("TM2003", op.span),)
            emission = replace(
                emission,
                tolerance="reassociated",
                reduction_terms=op.axes[-1].extent,
                diagnostics=diagnostics,
            )
        case _:
            pass
    return LevelResult(Level.TILE, emission, diagnostics)
