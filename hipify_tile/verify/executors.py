"""The original and its rewrites as things that run a case on the CPU, in guarded memory.

Every run gets fresh memory with the case's contents and returns what it left there. Compiling is
``oracle.py``'s and ``lowering.py``'s work.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping

import ml_dtypes
import numpy as np

from hipify_tile.ir.simt import Kernel, Param
from hipify_tile.ir.types import ScalarType
from hipify_tile.verify import native
from hipify_tile.verify.cases import Array, Case, numpy_dtype
from hipify_tile.verify.inputs import Ran
from hipify_tile.verify.native import Options, Schedule, StatusKind
from hipify_tile.verify.oracle import LoadedOracle

_POISON = (0xA5, 0x41)
_RACE_SECONDS = 4.0
"""Time after which a kernel's further cases are not searched for races."""


class Original:
    """A kernel of the reference build (see ``inputs.Original``)."""

    def __init__(
        self, kernel: Kernel, loaded: LoadedOracle, entry: int, time_limit_ms: int = 2000
    ) -> None:
        self._kernel = kernel
        self._loaded = loaded
        self._entry = entry
        self._time_limit_ms = time_limit_ms
        self._race_seconds = 0.0

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        """Execute ``case`` thread for thread in the given order.

        A global that is const keeps its own contents, whatever the case gives it.
        """
        return self._run(case, run_options(order, poison, self._time_limit_ms))

    def race(self, case: Case) -> str:
        """Execute ``case`` under the race detector (see ``inputs.Original``).

        Every case is searched until that has taken some seconds.
        """
        if self._race_seconds > _RACE_SECONDS:
            return ""
        watched = tuple(self._loaded.symbols[symbol] for symbol in case.globals)
        limit = self._time_limit_ms * 10
        started = time.perf_counter()
        ran = self._run(case, Options(time_limit_ms=limit, race=True, watched=watched))
        self._race_seconds += time.perf_counter() - started
        if ran.ok:
            return ""
        race = ran.status == "data_race"
        return f"threads race: {ran.detail}" if race else f"races are unknown: {ran.reason}"

    def _run(self, case: Case, options: Options) -> Ran:
        for symbol, data in case.globals.items():
            address, size = self._loaded.symbols[symbol]
            if data.nbytes != size:
                return Ran("no_symbol", f"{symbol} has {size} bytes, not {data.nbytes}")
            if symbol in self._loaded.constants:
                continue
            ctypes.memmove(address, np.ascontiguousarray(data).tobytes(), size)
        with native.Arena() as arena:
            placed = Placed(case, arena)
            arguments = native.Arguments(packed(self._kernel, case, placed.pointers))
            started = time.perf_counter()
            status = native.run_kernel(
                self._entry,
                case.launch.grid,
                case.launch.block,
                arguments,
                arena,
                shared_static=self._loaded.shared_static,
                shared_bytes=case.launch.shared_bytes,
                options=options,
            )
            seconds = time.perf_counter() - started
            values: dict[str, Array] = {}
            for symbol, data in case.globals.items():
                address, size = self._loaded.symbols[symbol]
                raw = np.frombuffer(ctypes.string_at(address, size), np.uint8)
                values[symbol] = raw.view(data.dtype)
            if status.race is not None:
                return Ran("data_race", self._described(status, case, placed))
            return placed.ran(status, values, seconds)

    def _described(self, status: native.Status, case: Case, placed: Placed) -> str:
        """``x[3]: thread (4,0,0) of block (0,0,0) reads at k.cu:7, …``."""
        assert status.race is not None
        where = placed.element(status)
        for symbol in case.globals:
            address, size = self._loaded.symbols[symbol]
            if address <= status.address < address + size:
                where = f"byte {status.address - address} of {symbol}"
        accesses = []
        for access in reversed(status.race):
            verb = ("reads", "writes")[access.write] + " atomically" * access.atomic
            line = self._loaded.source_line(access.code)
            thread, block = (",".join(map(str, t)) for t in (access.thread, access.block))
            at = f" at {line}" if line else ""
            accesses.append(f"thread ({thread}) of block ({block}) {verb}{at}")
        return f"{where}: {', '.join(accesses)}, and nothing orders them"


def run_options(order: str, poison: int, time_limit_ms: int) -> Options:
    """Options for a run in ``order`` with that ``poison`` (see ``inputs.Original``)."""
    return Options(
        schedule={"f": Schedule.FORWARD, "r": Schedule.REVERSE}.get(order[0], Schedule.SHUFFLE),
        seed=int(order.removeprefix("shuffle") or 1) if order.startswith("shuffle") else 0,
        poison=_POISON[poison],
        time_limit_ms=time_limit_ms,
    )


class Placed:
    """The memory of a case in an arena; ``pointers`` are the addresses the kernel gets."""

    def __init__(self, case: Case, arena: native.Arena, extra: Mapping[str, Array] | None = None):
        """Copies the contents; ``extra`` are further buffers by name (globals of a rewrite)."""
        self._buffers: dict[str, native.Buffer] = {}
        self._types: dict[str, np.dtype[np.generic]] = {}
        self._origins: dict[str, int] = {}
        self.pointers: dict[str, int] = {}
        for name, memory in case.memory.items():
            if not memory.alias:
                self._place(arena, name, memory.data, memory.origin, case.end_flush)
        for name, memory in case.memory.items():
            if memory.alias:
                self.pointers[name] = self.pointers[memory.alias] + memory.alias_offset
        for name, data in (extra or {}).items():
            self._place(arena, name, data, 0, case.end_flush)

    def _place(
        self, arena: native.Arena, name: str, data: Array, origin: int, end_flush: bool
    ) -> None:
        buffer = arena.guarded(data.nbytes, at_start=not end_flush, alignment=data.dtype.itemsize)
        if data.nbytes:
            buffer.view()[:] = np.ascontiguousarray(data).view(np.uint8)
        self._buffers[name] = buffer
        self._types[name] = data.dtype
        self._origins[name] = origin
        self.pointers[name] = buffer.address + origin * data.dtype.itemsize

    def ranges(self) -> list[tuple[int, int]]:
        """First address and the one after the last of every buffer that is not empty."""
        buffers = self._buffers.values()
        return [(b.address, b.address + b.bytes) for b in buffers if b.bytes]

    def ran(self, status: native.Status, values: dict[str, Array], seconds: float) -> Ran:
        """What the run left, or what stopped it."""
        if not status.ok:
            return self._stopped(status)
        memory = {
            name: buffer.view().copy().view(self._types[name])
            for name, buffer in self._buffers.items()
        }
        return Ran("ok", memory=memory, globals=values, seconds=seconds)

    def element(self, status: native.Status) -> str:
        """The place that ``status`` is about, as text."""
        if status.buffer == native.SHARED_MEMORY:
            return f"byte {status.offset} of shared memory"
        for name, buffer in self._buffers.items():
            if buffer.id == status.buffer:
                element = status.offset // self._types[name].itemsize - self._origins[name]
                return f"{name}[{element}]"
        return "memory"

    def _stopped(self, status: native.Status) -> Ran:
        kind = status.kind.name.lower()
        if status.kind is not StatusKind.OUT_OF_BOUNDS:
            return Ran(kind, status.detail)
        if status.buffer == native.SHARED_MEMORY:
            return Ran(kind, "shared memory")
        for name, buffer in self._buffers.items():
            if buffer.id == status.buffer:
                element = status.offset // self._types[name].itemsize - self._origins[name]
                access = f"{'writes' if status.write else 'reads'} {name}[{element}]"
                who = f"thread {_tuple(status.thread)} of block {_tuple(status.block)}"
                return Ran(kind, name, leaf=name, element=element, access=f"{who} {access}")
        return Ran(kind, "unknown buffer")


def _tuple(values: tuple[int, int, int]) -> str:
    return f"({','.join(map(str, values))})"


def packed(kernel: Kernel, case: Case, pointers: Mapping[str, int]) -> list[bytes]:
    """The CUDA arguments of ``case`` as bytes, leaves at their offsets, unnamed bytes zero."""
    arguments = [bytearray(size) for size in kernel.argument_sizes]
    for p in kernel.params:
        raw = leaf_bytes(p, case, pointers)
        arguments[p.argument][p.offset : p.offset + len(raw)] = raw
    return [bytes(a) for a in arguments]


def leaf_bytes(p: Param, case: Case, pointers: Mapping[str, int]) -> bytes:
    """A leaf's value in the C++ layout."""
    if p.pointer:
        return pointers[p.name].to_bytes(8, "little")
    return scalar_bytes(case.launch.scalars[p.name], p.dtype)


def scalar_bytes(value: float | bool, dtype: ScalarType) -> bytes:
    """A scalar of type ``dtype`` in the C++ layout."""
    if dtype.name == "bfloat16":
        return np.array(value, ml_dtypes.bfloat16).tobytes()
    with np.errstate(over="ignore"):
        return np.array(value).astype(numpy_dtype(dtype)).tobytes()
