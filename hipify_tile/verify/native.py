"""The block executor from Python: guarded memory, and compiled kernels run on it under control.

Wraps ``libtm_executor`` (``compat/runtime``) with ctypes. A run never raises for what the kernel
does: an out-of-bounds access, a trap, a time-out and a divergent barrier are all a ``Status``.
It does not compile anything (``oracle``), choose inputs or compare results.

A process should run on one thread only. A run that ends other than ``OK`` leaves buffers as the
kernel left them; the arena stays usable.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from hipify_tile.compat import library_path


class StatusKind(IntEnum):
    """How a run ended."""

    OK = 0
    OUT_OF_BOUNDS = 1
    TIMEOUT = 2
    DIVERGENT_BARRIER = 3
    TRAP = 4
    BAD_WARP_OPERATION = 5
    STACK_OVERFLOW = 6
    DEMAND_LIMIT = 7
    WILD_ACCESS = 8
    BAD_ARGUMENT = 9
    DATA_RACE = 10


class Schedule(IntEnum):
    """The order in which the threads of a block, and the blocks, take turns."""

    FORWARD = 0
    REVERSE = 1
    SHUFFLE = 2


class FillKind(IntEnum):
    """How the elements of a buffer follow from their index."""

    ZERO = 0
    UNIFORM_INT = 1
    UNIFORM_FLOAT = 2
    IOTA = 3


SHARED_MEMORY = -2
DTYPES = (
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "bfloat16", "float32", "float64",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fill:
    """Contents of a buffer as a pure function of the element index.

    ``UNIFORM_INT`` draws an integer of [``low``, ``high``] and converts it, ``UNIFORM_FLOAT`` a
    number of [``low``, ``high``), ``IOTA`` is ``min(low + index * step, high)``.
    ``dtype`` is one of ``DTYPES``.
    """

    dtype: str
    kind: FillKind = FillKind.ZERO
    low: float = 0
    high: float = 0
    step: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: thread order, the byte that fills shared memory, CPU time limit (ms, 0 none).

    ``race`` ends the run at the first data race, at many times the cost; ``watched`` are ranges
    (address, size in bytes) besides the arena and shared memory where it is looked for. Only code
    with hooks is seen (``oracle.build_oracle``).
    """

    schedule: Schedule = Schedule.FORWARD
    seed: int = 0
    poison: int = 0xA5
    time_limit_ms: int = 0
    race: bool = False
    watched: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """One of the two accesses of a data race; ``code`` is an address in the kernel or 0."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    write: bool
    atomic: bool
    code: int


@dataclass(frozen=True, slots=True)
class Status:
    """How a run ended, and where.

    ``buffer`` is an arena buffer id, ``SHARED_MEMORY`` or -1; ``offset`` is in bytes from that
    buffer's pointer. ``undefined_lanes`` counts shuffles that read a lane without a value: such a
    read yields the poison byte repeated, so two poisons show whether the result depends on it.
    ``race`` are the later and the earlier access of a data race.
    """

    kind: StatusKind
    buffer: int = -1
    offset: int = 0
    address: int = 0
    write: bool = False
    undefined_lanes: int = 0
    block: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)
    detail: str = ""
    race: tuple[Access, Access] | None = None

    @property
    def ok(self) -> bool:
        """Whether the run completed."""
        return self.kind is StatusKind.OK


@dataclass(frozen=True, slots=True)
class Touched:
    """Byte ranges [low, high) from the buffer's pointer that were read and written, or None.

    Of a page that is written first, later reads are not seen unless the buffer is traced.
    """

    read: tuple[int, int] | None
    written: tuple[int, int] | None
    mapped_bytes: int


class _Status(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("buffer", ctypes.c_int32),
        ("offset", ctypes.c_int64),
        ("address", ctypes.c_uint64),
        ("write", ctypes.c_int32),
        ("undefined_lanes", ctypes.c_int32),
        ("block", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("detail", ctypes.c_char * 96),
        ("atomic", ctypes.c_int32),
        ("other_write", ctypes.c_int32),
        ("other_atomic", ctypes.c_int32),
        ("other_block", ctypes.c_uint32 * 3),
        ("other_thread", ctypes.c_uint32 * 3),
        ("code", ctypes.c_uint64),
        ("other_code", ctypes.c_uint64),
    ]

    def to_status(self) -> Status:
        """The same as a plain value."""
        kind = StatusKind(self.kind)
        block, thread = _triple(self.block), _triple(self.thread)
        race = None
        if kind is StatusKind.DATA_RACE:
            race = (
                Access(block, thread, bool(self.write), bool(self.atomic), self.code),
                Access(
                    _triple(self.other_block),
                    _triple(self.other_thread),
                    bool(self.other_write),
                    bool(self.other_atomic),
                    self.other_code,
                ),
            )
        return Status(
            kind,
            self.buffer,
            self.offset,
            self.address,
            bool(self.write),
            self.undefined_lanes,
            block,
            thread,
            self.detail.decode("utf-8", "replace"),
            race,
        )


def _triple(words: ctypes.Array[ctypes.c_uint32]) -> tuple[int, int, int]:
    x, y, z = words
    return (x, y, z)


class _Fill(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int32),
        ("kind", ctypes.c_int32),
        ("int_low", ctypes.c_int64),
        ("int_high", ctypes.c_int64),
        ("int_step", ctypes.c_int64),
        ("float_low", ctypes.c_double),
        ("float_high", ctypes.c_double),
        ("seed", ctypes.c_uint64),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("schedule", ctypes.c_uint32),
        ("poison", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("time_limit_ms", ctypes.c_uint32),
        ("race", ctypes.c_uint32),
        ("watched", ctypes.POINTER(ctypes.c_uint64)),
        ("watched_count", ctypes.c_uint64),
    ]


_Words = ctypes.c_uint32 * 3


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The executor, loaded so that kernels find its symbols. Raises OSError where there is none."""
    lib = ctypes.CDLL(str(library_path("executor")), mode=ctypes.RTLD_GLOBAL)
    pointer, i32, u64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint64
    lib.tm_arena_create.restype = pointer
    lib.tm_arena_destroy.argtypes = [pointer]
    lib.tm_arena_destroy.restype = None
    lib.tm_arena_add_guarded.argtypes = [pointer, u64, u64, i32, ctypes.POINTER(pointer)]
    lib.tm_arena_add_demand.argtypes = [
        pointer, u64, u64, u64, ctypes.POINTER(_Fill), ctypes.POINTER(pointer)
    ]  # fmt: skip
    lib.tm_arena_trace.argtypes = [pointer, i32, i32]
    lib.tm_arena_touched.argtypes = [pointer, i32, ctypes.POINTER(ctypes.c_int64 * 5)]
    lib.tm_fill_elements.argtypes = [ctypes.POINTER(_Fill), pointer, ctypes.c_int64, u64]
    lib.tm_fill_elements.restype = None
    lib.tm_run_kernel.argtypes = [
        pointer, _Words, _Words, u64, u64, pointer, pointer,
        ctypes.POINTER(_Options), ctypes.POINTER(_Status),
    ]  # fmt: skip
    lib.tm_run_trampoline.argtypes = [
        pointer, pointer, pointer, ctypes.POINTER(_Options), ctypes.POINTER(_Status)
    ]  # fmt: skip
    return lib


def _c_fill(fill: Fill) -> _Fill:
    is_float = fill.kind is FillKind.UNIFORM_FLOAT
    low, high = (0, 0) if is_float else (int(fill.low), int(fill.high))
    return _Fill(
        DTYPES.index(fill.dtype),
        int(fill.kind),
        low,
        high,
        fill.step,
        float(fill.low) if is_float else 0.0,
        float(fill.high) if is_float else 0.0,
        fill.seed & (2**64 - 1),
    )


def fill_elements(fill: Fill, first: int, count: int) -> NDArray[np.uint8]:
    """The bytes of elements ``first`` … ``first + count - 1`` of a buffer with these contents."""
    size = int("".join(c for c in fill.dtype if c.isdigit())) // 8
    out = np.zeros(max(count, 0) * size, np.uint8)
    library().tm_fill_elements(ctypes.byref(_c_fill(fill)), out.ctypes.data, first, max(count, 0))
    return out


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of an arena: what the kernel gets, and its size (of a demand buffer: reserve)."""

    id: int
    address: int
    bytes: int

    def view(self) -> NDArray[np.uint8]:
        """The bytes of a guarded buffer, shared with it, valid while its arena lives.

        Not for demand buffers: pages that the kernel did not touch are inaccessible.
        """
        if self.bytes == 0:
            return np.zeros(0, np.uint8)
        raw = (ctypes.c_uint8 * self.bytes).from_address(self.address)
        return np.ctypeslib.as_array(raw)


class Arena:
    """Memory whose every out-of-bounds access is noticed. Use as a context manager.

    Raises MemoryError where address space runs out.
    """

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        """Creates an empty arena."""
        self._handle: int | None = library().tm_arena_create()
        if not self._handle:
            raise MemoryError("no arena")

    @property
    def handle(self) -> int | None:
        """The C handle; None once closed."""
        return self._handle

    def guarded(self, size: int, *, at_start: bool = False, alignment: int = 1) -> Buffer:
        """A zeroed buffer of ``size`` bytes flush against inaccessible memory of 1 GiB.

        ``at_start`` puts the guard exactly below the first byte instead of exactly above the last.
        ``alignment`` (a power of two, at least the element size) aligns the pointer; where it does
        not divide ``size``, the guard above the end is up to ``alignment - 1`` bytes away.
        """
        pointer = ctypes.c_void_p()
        number = library().tm_arena_add_guarded(
            self._handle, size, alignment, int(at_start), ctypes.byref(pointer)
        )
        return self._added(number, pointer, size)

    def demand(
        self, fill: Fill, *, reserve: int = 1 << 28, lead: int = 1 << 24, cap: int = 1 << 26
    ) -> Buffer:
        """A buffer that appears when touched, holding ``fill``: for finding a kernel's extents.

        ``reserve`` bytes lie at and after the pointer and ``lead`` before it; touching more than
        ``cap`` bytes ends the run with ``DEMAND_LIMIT``.
        """
        pointer = ctypes.c_void_p()
        number = library().tm_arena_add_demand(
            self._handle, reserve, lead, cap, ctypes.byref(_c_fill(fill)), ctypes.byref(pointer)
        )
        return self._added(number, pointer, reserve)

    def _added(self, number: int, pointer: ctypes.c_void_p, size: int) -> Buffer:
        if number < 0:
            raise MemoryError(f"no room for a buffer of {size} bytes")
        return Buffer(number, pointer.value or 0, size)

    def trace(self, buffer: Buffer, on: bool = True) -> None:
        """Makes ``touched`` of a demand buffer exact, at microseconds an access.

        ``high`` is then one past the *first byte* of the last access: add the element size minus 1.
        """
        library().tm_arena_trace(self._handle, buffer.id, int(on))

    def touched(self, buffer: Buffer) -> Touched:
        """Which bytes of a demand buffer were touched so far: whole pages, unless traced."""
        out = (ctypes.c_int64 * 5)()
        library().tm_arena_touched(self._handle, buffer.id, ctypes.byref(out))
        read = (out[0], out[1]) if out[0] < out[1] else None
        written = (out[2], out[3]) if out[2] < out[3] else None
        return Touched(read, written, out[4])

    def close(self) -> None:
        """Unmaps everything. Views of its buffers must not be used any more."""
        if self._handle:
            library().tm_arena_destroy(self._handle)
            self._handle = None

    def __enter__(self) -> Arena:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()


class Arguments:
    """The ``void**`` of a launch: pointers to values that live as long as this object.

    Each value is an address (``Buffer`` or int for pointers, 8 bytes), or the raw bytes of a scalar
    or struct in the kernel's C++ layout (``np.float32(1).tobytes()``, ``struct.pack``).
    """

    __slots__ = ("_cells", "_table")

    def __init__(self, values: Sequence[Buffer | int | bytes]) -> None:
        """Packs the values in order."""
        self._cells: list[ctypes.Array[ctypes.c_char]] = []
        for value in values:
            match value:
                case Buffer():
                    raw = value.address.to_bytes(8, "little")
                case int():
                    raw = (value & (2**64 - 1)).to_bytes(8, "little")
                case _:
                    raw = value
            # ctypes cells are aligned to 16 only by chance: vector parameters need it.
            cell = ctypes.create_string_buffer(len(raw) + 32)
            address = (ctypes.addressof(cell) + 15) & ~15
            ctypes.memmove(address, raw, len(raw))
            self._cells.append(cell)
        addresses = [(ctypes.addressof(c) + 15) & ~15 for c in self._cells]
        self._table = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)

    @property
    def address(self) -> int:
        """The table's address."""
        return ctypes.addressof(self._table)


def run_kernel(
    entry: int,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Arguments,
    arena: Arena,
    *,
    shared_static: int = 0,
    shared_bytes: int = 0,
    options: Options | None = None,
) -> Status:
    """Runs a kernel entry (``LoadedOracle.entries``) for every thread of the grid.

    ``shared_static`` is ``LoadedOracle.shared_static``; ``shared_bytes`` the launch's dynamic
    shared memory. Accesses beyond it are out of bounds with ``buffer == SHARED_MEMORY``.
    """
    status = _Status()
    library().tm_run_kernel(
        entry,
        _Words(*grid),
        _Words(*block),
        shared_static,
        shared_bytes,
        arguments.address,
        arena.handle,
        ctypes.byref(_c_options(options)),
        ctypes.byref(status),
    )
    return status.to_status()


def run_trampoline(
    entry: int, arguments: Arguments, arena: Arena, *, options: Options | None = None
) -> Status:
    """Runs a C function ``void entry(void **)`` once under the same guards."""
    status = _Status()
    library().tm_run_trampoline(
        entry,
        arguments.address,
        arena.handle,
        ctypes.byref(_c_options(options)),
        ctypes.byref(status),
    )
    return status.to_status()


def _c_options(options: Options | None) -> _Options:
    chosen = options or Options()
    words = [word for pair in chosen.watched for word in pair]
    return _Options(
        int(chosen.schedule),
        chosen.poison & 0xFF,
        chosen.seed & (2**64 - 1),
        chosen.time_limit_ms,
        int(chosen.race),
        (ctypes.c_uint64 * len(words))(*words),
        len(chosen.watched),
    )
