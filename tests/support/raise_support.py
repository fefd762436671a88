"""Kernels from CUDA text, and execution of their tile emissions on the CPU."""

from __future__ import annotations

import ctypes
import functools
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from clang.cindex import CursorKind
from raise_interpreter import Dim, run

from hipify_tile.analyzer.clang import Spans
from hipify_tile.analyzer.clang_parse import parse
from hipify_tile.analyzer.importing.kernel import import_kernel
from hipify_tile.analyzer.model import CompileUnit
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import ArgumentRole, Emission
from hipify_tile.verify.evaluate import evaluate
from hipify_tile.verify.lowering import compile_c, lower

GUARD = 64


@functools.cache
def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="raise-"))


@functools.cache
def cuda_kernel(source: str) -> Kernel:
    """Import the one kernel of ``source``."""
    path = _scratch() / f"k{abs(hash(source))}.cu"
    path.write_text(source)
    unit = parse(CompileUnit(str(path), str(path.parent)), cache_dir=_scratch() / "pch")
    top = list(unit.tu.cursor.get_children())
    (cursor,) = (
        c
        for c in top
        if c.kind == CursorKind.FUNCTION_DECL
        and any(child.kind == CursorKind.CUDAGLOBAL_ATTR for child in c.get_children())
    )
    result = import_kernel(cursor, Spans(top))
    assert result.kernel is not None, result.diagnostics
    return result.kernel


def assumptions_hold(emission: Emission, grid: Dim, block: Dim, scalars: Mapping) -> bool:
    """Whether the launch is one that the emission is meant for."""
    launch = {f"grid_{a}": n for a, n in zip("xyz", grid, strict=True)}
    launch |= {f"block_{a}": n for a, n in zip("xyz", block, strict=True)}
    return all(evaluate(condition, {**scalars, **launch}) for condition in emission.assumes)


def execute(
    emission: Emission,
    grid: Dim,
    block: Dim,
    memory: Mapping[str, np.ndarray],
    scalars: Mapping[str, object],
    options: Mapping[str, object] | None = None,
) -> None:
    """Run the emission lowered to C, updating ``memory`` in place."""
    entry, parameters = _compiled(emission, tuple(sorted((options or {}).items())))
    by_name = {a.name: a for a in emission.arguments}
    values = []
    for parameter in parameters:
        argument = by_name.get(parameter.name)
        if argument is None:
            buffer = next(a for a in emission.arguments if parameter.name in a.extents)
            values.append(np.asarray(len(memory[buffer.source]), parameter.dtype))
            continue
        match argument.role:
            case ArgumentRole.BUFFER:
                values.append(np.asarray(memory[argument.source].ctypes.data, np.uint64))
            case ArgumentRole.SCALAR:
                values.append(np.asarray(scalars[argument.source], parameter.dtype))
            case ArgumentRole.GRID:
                values.append(np.asarray(grid[argument.axis], np.int32))
            case ArgumentRole.BLOCK:
                values.append(np.asarray(block[argument.axis], np.int32))
    entry((ctypes.c_void_p * len(values))(*(v.ctypes.data for v in values)))


@functools.cache
def _compiled(emission: Emission, options: tuple):
    lowered = lower(emission, "c", dict(options))
    library = ctypes.CDLL(str(compile_c(lowered, _scratch())))
    library.tm_entry.restype = None
    return library.tm_entry, lowered.parameters


def assert_same(
    kernel: Kernel,
    emission: Emission,
    grid: Dim,
    block: Dim,
    memory: Mapping[str, np.ndarray],
    scalars: Mapping[str, object],
    options: Mapping[str, object] | None = None,
) -> None:
    """Compare emission and thread-by-thread reference, bit for bit, beyond the end as well."""
    assert assumptions_hold(emission, grid, block, scalars)
    want = {name: data.copy() for name, data in memory.items()}
    run(kernel, grid, block, want, scalars)
    padded = {n: np.concatenate([d, np.full(GUARD, 7, d.dtype)]) for n, d in memory.items()}
    execute(emission, grid, block, padded, scalars, options)
    for name, data in want.items():
        got = padded[name]
        assert (got[len(data) :] == 7).all(), f"{name} is written beyond its end"
        np.testing.assert_array_equal(got[: len(data)], data, err_msg=name)
