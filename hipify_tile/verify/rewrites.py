"""Emissions as things that run a case on the CPU (see ``trial.Rewritten``).

``tile`` and ``loop`` are lowered to C and run as one function call. ``simt`` is lowered to CUDA
text, which runs thread for thread like the original does. An emission that needs constants at
compile time (block, dynamic shared memory) is built for the first few that the cases ask for.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.types import BY_NAME
from hipify_tile.rewriter.model import Argument, ArgumentRole, Emission, Level
from hipify_tile.verify import native
from hipify_tile.verify.cases import Array, Case
from hipify_tile.verify.evaluate import UnevaluableError, evaluate_int
from hipify_tile.verify.executors import Placed, run_options, scalar_bytes
from hipify_tile.verify.inputs import Ran
from hipify_tile.verify.lowering import Lowered, LoweringError, compile_c, lower
from hipify_tile.verify.oracle import LoadedOracle, OracleFailure, build_cuda_text

_MAX_BUILDS = 2

Key = tuple[tuple[int, int, int] | None, int | None]


@dataclass(frozen=True, slots=True)
class _Build:
    lowered: Lowered
    entry: int
    loaded: LoadedOracle | None
    library: ctypes.CDLL | None = None


class Rewritten:
    """One emission, built on demand. Not thread safe; keeps its libraries loaded."""

    def __init__(
        self,
        kernel: Kernel,
        emission: Emission,
        cache: Path,
        time_limit_ms: int = 4000,
    ) -> None:
        self._kernel = kernel
        self._emission = emission
        self._cache = cache
        self._time_limit_ms = time_limit_ms
        self._builds: dict[Key, _Build | tuple[Diagnostic, ...]] = {}
        self._arguments: dict[str, Argument] = {a.name: a for a in emission.arguments}

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        """Execute ``case``; status ``skipped`` when that would need one build too many."""
        options = self._emission.options
        key: Key = (
            case.launch.block if "block" in options else None,
            case.launch.shared_bytes if "shared_bytes" in options else None,
        )
        if key not in self._builds:
            if key[0] == (1, 1, 1) and not case.launch.real:
                return Ran("skipped", "TileLang loses variables where a block is one thread")
            # What the program launches is always built: it must not escape by its number.
            if len(self._builds) >= _MAX_BUILDS and not case.launch.real:
                return Ran("skipped", "it is built for other blocks or shared memory sizes")
            self._builds[key] = self._build(key)
        build = self._builds[key]
        if isinstance(build, tuple):
            return Ran("unbuilt", diagnostics=build)
        return self._execute(build, case, order, poison)

    def _build(self, key: Key) -> _Build | tuple[Diagnostic, ...]:
        block, shared = key
        options: dict[str, object] = {}
        if block is not None:
            options["block"] = block
        if shared is not None:
            options["shared_bytes"] = shared
        try:
            if self._emission.level is not Level.SIMT:
                lowered = lower(self._emission, "c", options)
                library = ctypes.CDLL(str(compile_c(lowered, self._cache)))
                entry = ctypes.cast(library.tm_entry, ctypes.c_void_p).value
                return _Build(lowered, entry or 0, None, library)
            lowered = lower(self._emission, "cuda", options)
        except LoweringError as error:
            return (error.diagnostic,)
        built = build_cuda_text(lowered.source, lowered.entry, self._cache)
        if isinstance(built, OracleFailure):
            return (diagnostic("TM2402", notes=("the C++ compiler reports:", built.message)),)
        loaded = built.load()
        return _Build(lowered, loaded.entries[lowered.entry], loaded)

    def _execute(self, build: _Build, case: Case, order: str, poison: int) -> Ran:
        extra = {f"global {n}": data for n, data in case.globals.items()}
        with native.Arena() as arena:
            placed = Placed(case, arena, extra)
            values = [
                self._value(p.name, p.dtype, case, placed.pointers)
                for p in build.lowered.parameters
            ]
            arguments = native.Arguments(values)
            options = run_options(order, poison, self._time_limit_ms)
            started = time.perf_counter()
            if build.loaded is None:
                status = native.run_trampoline(build.entry, arguments, arena, options=options)
            else:
                status = native.run_kernel(
                    build.entry,
                    case.launch.grid,
                    case.launch.block,
                    arguments,
                    arena,
                    shared_static=build.loaded.shared_static,
                    shared_bytes=_dynamic_shared(build.lowered, case),
                    options=options,
                )
            ran = placed.ran(status, {}, time.perf_counter() - started)
        if not ran.ok:
            return ran
        memory = {n: a for n, a in ran.memory.items() if n not in extra}
        values_of = {n: ran.memory[f"global {n}"] for n in case.globals}
        return Ran("ok", memory=memory, globals=values_of, seconds=ran.seconds)

    def _value(self, name: str, dtype: str, case: Case, pointers: Mapping[str, int]) -> bytes | int:
        """The value of the lowered function's parameter ``name``; KeyError for one unknown."""
        argument = self._arguments.get(name)
        if argument is None:
            return self._extent(name, dtype, case)
        launch = case.launch
        match argument.role:
            case ArgumentRole.BUFFER:
                return pointers[argument.source]
            case ArgumentRole.GLOBAL:
                return pointers[f"global {argument.source}"]
            case ArgumentRole.GRID:
                return scalar_bytes(launch.grid[argument.axis], BY_NAME[dtype])
            case ArgumentRole.BLOCK:
                return scalar_bytes(launch.block[argument.axis], BY_NAME[dtype])
            case ArgumentRole.SCALAR:
                leaf = next(p for p in self._kernel.params if p.name == argument.source)
                raw = scalar_bytes(launch.scalars[leaf.name], leaf.dtype)
                if BY_NAME[dtype].bytes != len(raw):
                    raise ValueError(f"{name} is {leaf.dtype} in the source and {dtype} here")
                return raw

    def _extent(self, name: str, dtype: str, case: Case) -> bytes:
        """A symbolic dimension: its expression's value, or the buffer's element count."""
        for argument in self._emission.arguments:
            for dimension, extent in enumerate(argument.extents):
                if extent != name:
                    continue
                shape = argument.shape[dimension] if dimension < len(argument.shape) else None
                if shape is not None:
                    try:
                        value = evaluate_int(shape, case.launch.scalars)
                    except UnevaluableError as error:
                        raise ValueError(f"the extent {name} has no value: {error}") from error
                else:
                    value = _element_count(argument, case)
                return scalar_bytes(value, BY_NAME[dtype])
        raise KeyError(f"the lowered function takes an unknown parameter {name}")


def _element_count(argument: Argument, case: Case) -> int:
    """Elements of the argument's type from its pointer to the end of the memory behind it."""
    item = BY_NAME[argument.dtype].bytes
    if argument.role is ArgumentRole.GLOBAL:
        data: Array = case.globals[argument.source]
        return data.nbytes // item
    memory = case.memory[argument.source]
    owner = case.memory[memory.alias] if memory.alias else memory
    after = (owner.data.size - owner.origin) * owner.data.itemsize - memory.alias_offset
    return max(0, after) // item


def _dynamic_shared(lowered: Lowered, case: Case) -> int:
    """Bytes of dynamic shared memory: what the text asks for, at least the launch's."""
    text = lowered.dynamic_shared.strip()
    asked = int(text) if text.isdigit() else 0
    return int(np.maximum(asked, case.launch.shared_bytes))
