"""The rewriter's pipeline, all of it: which passes make which level."""

from __future__ import annotations

from collections.abc import Callable

from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.verify import violations
from hipify_tile.passes import Pipeline, Refusal
from hipify_tile.rewriter.emit.kernel import emit_kernel, emit_nest
from hipify_tile.rewriter.emit.provenance import Provenance, provenance
from hipify_tile.rewriter.model import Level, LevelResult
from hipify_tile.rewriter.raise_.barriers import DistributeBarriers
from hipify_tile.rewriter.raise_.flatten import flatten_globals
from hipify_tile.rewriter.raise_.raising import raise_to_tile
from hipify_tile.rewriter.raise_.structurize import Structurize

SIMT = Pipeline((Structurize(),))
LOOP = Pipeline((DistributeBarriers(),))
ALL_LEVELS = (Level.TILE, Level.LOOP, Level.SIMT)


def emit_levels(
    kernel: Kernel,
    *,
    levels: tuple[Level, ...] = ALL_LEVELS,
    root: str = "",
    signature: str = "",
) -> tuple[LevelResult, ...]:
    """Emit ``kernel`` at each of ``levels``, in their order; a refusal is a result too.

    ``root`` is the directory that the provenance comment's path is relative to, ``signature`` the
    CUDA signature to show (by default one made from the parameters).
    """
    broken = violations(kernel)
    if broken:
        invalid = diagnostic("TM9002", kernel.span, notes=tuple(broken[:5]))
        return tuple(LevelResult(level, None, (invalid,)) for level in levels)
    kernel = flatten_globals(kernel)
    origin = provenance(kernel, root, signature)
    makers: dict[Level, Callable[[Kernel, Provenance], LevelResult]] = {
        Level.TILE: _tile,
        Level.LOOP: _loop,
        Level.SIMT: _simt,
    }
    results = []
    for level in levels:
        try:
            results.append(makers[level](kernel, origin))
        except Refusal as refusal:
            results.append(LevelResult(level, None, refusal.diagnostics))
    return tuple(results)


def _simt(kernel: Kernel, origin: Provenance) -> LevelResult:
    return LevelResult(Level.SIMT, emit_kernel(SIMT.run(kernel), origin))


def _loop(kernel: Kernel, origin: Provenance) -> LevelResult:
    return LevelResult(Level.LOOP, emit_nest(LOOP.run(kernel), origin))


def _tile(kernel: Kernel, origin: Provenance) -> LevelResult:
    return raise_to_tile(kernel, origin)
