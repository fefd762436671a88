"""Which blocks and how much dynamic shared memory a kernel is lowered for ahead of time.

At level ``simt`` the block is a constant of the lowered kernel. The program's own launches say
which ones it uses; where they do not, common one-dimensional blocks are taken.
"""

from __future__ import annotations

from collections.abc import Iterable

from hipify_tile.analyzer.model import LaunchFact
from hipify_tile.build.device_code import Shape
from hipify_tile.ir.expr import Expr, Var, walk
from hipify_tile.verify.evaluate import UnevaluableError, evaluate_int

USUAL_BLOCKS = (256, 128, 512)
DYNAMIC_SHARED = 49152
MAX_SHAPES = 6
MAX_THREADS = 1024


def launch_shapes(launches: Iterable[LaunchFact], uses_shared: bool) -> tuple[Shape, ...]:
    """Return the shapes of a kernel's ``launches``, the certain ones first, at most ``MAX_SHAPES``.

    ``uses_shared`` says that the kernel has dynamic shared memory, whose size a shape bounds.
    """
    certain: dict[Shape, None] = {}
    guessed: dict[Shape, None] = {}
    for launch in launches:
        block = tuple(_value(e, launch) for e in launch.block)
        shared = _value(launch.shared_bytes, launch) if uses_shared else 0
        if shared is None:
            shared = DYNAMIC_SHARED
        known = [n for n in block if n is not None]
        if len(known) == 3:
            x, y, z = known
            if min(known) > 0 and x * y * z <= MAX_THREADS and shared >= 0:
                certain[Shape((x, y, z), shared)] = None
            if _fixed(launch):
                continue
        guessed.update({Shape((n, 1, 1), shared): None for n in USUAL_BLOCKS})
    if not certain and not guessed:
        shared = DYNAMIC_SHARED if uses_shared else 0
        guessed = {Shape((n, 1, 1), shared): None for n in USUAL_BLOCKS}
    return tuple({**certain, **guessed})[:MAX_SHAPES]


def _value(expr: Expr | None, launch: LaunchFact) -> int | None:
    """The expression under the values that its variables are initialised with."""
    if expr is None:
        return None
    try:
        return evaluate_int(expr, dict(launch.hints))
    except UnevaluableError:
        return None


def _fixed(launch: LaunchFact) -> bool:
    """Whether the program cannot launch another block here: a hint may be a default only."""
    return all(e is not None and not any(isinstance(v, Var) for v in walk(e)) for e in launch.block)
