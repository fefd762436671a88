"""What a rewrite is run on and held to: the original's result in the memory that a level declares.

A level may declare tensors larger than what the original touches; the elements added then must not
change. Nothing here runs a kernel.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hipify_tile.rewriter.model import Emission, Level
from hipify_tile.verify.assumptions import launch_names
from hipify_tile.verify.cases import Array, Case
from hipify_tile.verify.compare import unequal
from hipify_tile.verify.evaluate import UnevaluableError, evaluate_int
from hipify_tile.verify.reference import Bounds, Reference, initial

WIDEST = 1 << 26
"""Bytes by which the buffers of a case may grow to the shapes that an emission declares."""


def variants(case: Case, level: Level) -> tuple[tuple[bool, str, int], ...]:
    """How to run a rewrite on ``case``: the end that is guarded, thread order and poison.

    Only ``simt`` has threads to order: a missing barrier may show in one order only.
    """
    here, there = case.end_flush, not case.end_flush
    if level is not Level.SIMT:
        return (here, "forward", 0), (there, "forward", 0)
    return (here, "forward", 0), (there, "reverse", 1), (here, "shuffle", 0)


def changed(case: Case, answer: Reference, bounds: Bounds | None = None) -> set[str]:
    """Pointer leaves and globals with an element that the original changes to a value that a
    rewrite is held to: not one whose error bound is infinite.
    """
    before, globals_before = initial(case)
    out: set[str] = set()
    for name, data in {**before, **globals_before}.items():
        after = answer.memory[name] if name in answer.memory else answer.globals[name]
        differ = unequal(data, after)
        if bounds is not None and name in bounds:
            differ &= ~np.isposinf(bounds[name])
        if differ.any():
            out |= {name, *(n for n, m in case.memory.items() if m.alias == name)}
    return out


def widen(
    case: Case, answer: Reference, emission: Emission
) -> tuple[Case, dict[str, Array], dict[str, int]] | None:
    """Grow buffers to the shapes that the emission declares, with elements that must not change.

    None where that would add more than ``WIDEST`` bytes.
    """
    room = WIDEST
    memory = dict(case.memory)
    expected: dict[str, Array] = dict(answer.memory)
    for argument in emission.arguments:
        shape = [e for e in argument.shape if e is not None]
        held = memory.get(argument.source)
        if not shape or len(shape) != len(argument.shape) or held is None or held.alias:
            continue
        try:
            names = launch_names(case.launch)
            count = math.prod(max(0, evaluate_int(e, names)) for e in shape)
        except UnevaluableError:
            continue
        missing = count - (held.data.size - held.origin)
        room -= max(0, missing) * held.data.itemsize
        if room < 0:
            return None
        if missing > 0:
            seed = np.random.default_rng(count)
            extra = seed.integers(0, 5, missing).astype(held.data.dtype)
            memory[argument.source] = replace(held, data=np.concatenate([held.data, extra]))
            expected[argument.source] = np.concatenate([expected[argument.source], extra])
    expected |= {f"global {n}": a for n, a in answer.globals.items()}
    origins = {n: m.origin for n, m in memory.items()}
    return replace(case, memory=memory), expected, origins


def padded(bounds: Bounds, expected: dict[str, Array]) -> Bounds:
    """``bounds`` by the names of ``expected``, zero for the elements that ``widen`` added."""
    out: Bounds = {}
    for name, bound in bounds.items():
        key = name if name in expected else f"global {name}"
        out[key] = np.zeros(expected[key].size)
        out[key][: bound.size] = bound.ravel()
    return out


def dtype_of(bounds: Bounds, answer: Reference) -> np.dtype[np.generic]:
    """The coarsest type among the buffers that have bounds."""
    types = [(answer.memory | answer.globals)[n].dtype for n in bounds]
    return min(types, key=lambda t: t.itemsize)
