"""Objects on trial: the code that a program gets, held against the original on generated cases.

An object differs from what verification executed: its block loops are cut, its bodies are rewritten
to vectorise, its atomics are real. So each runs on verification's cases itself, in guarded memory,

- as it ships, all blocks at once and in pieces that start and end anywhere;
- compiled for the plain processor, with the fast body and without it.

All of these have to leave the same bits, and those have to be the original's, as verification
compares them. What other machines' clones compute is not executed here.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hipify_tile.build.arguments import NoObjectError
from hipify_tile.build.objects import ObjectSource, compile_object
from hipify_tile.compat import include_dir
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.verify import native
from hipify_tile.verify.cases import Case
from hipify_tile.verify.executors import Placed, packed, run_options
from hipify_tile.verify.inputs import Ran

_MOST_RANGES = 64
_LAUNCH = "<3I3IQQiIQQ"  # tm_launch
_SWITCH = "tm_trial_switch.h"
# What an object needs of a runtime, of which nothing is visible outside the library.
_SHIM = """\
#include "tm_launch.h"
extern "C" {
__attribute__((visibility("default"))) struct {
  uint64_t ranges[%(most)d][2], count;
  void *variables[%(most)d];
  int64_t pieces;
  int32_t fast, result;
} tm_trial;
int tm_trial_fast(void) { return tm_trial.fast; }
int tm_register_kernel(const tm_kernel_record *) { return 0; }
void tm_unregister_kernel(const tm_kernel_record *) {}
uint64_t tm_extent(const void *pointer) {
  const uint64_t at = (uint64_t)pointer;
  for (uint64_t i = 0; i < tm_trial.count; ++i)
    if (tm_trial.ranges[i][0] <= at && at < tm_trial.ranges[i][1]) return tm_trial.ranges[i][1] - at;
  return 0;
}
int tm_run_blocks(const tm_launch *launch, int (*body)(void *, uint64_t, uint64_t), void *context) {
  const uint64_t blocks = launch->grid[0], pieces = tm_trial.pieces;
  int error = 0;
  for (uint64_t i = 0, first = 0; i < pieces && !error; ++i) {
    const uint64_t last = blocks * (i + 1) / pieces;
    if (first < last) error = body(context, first, last);
    first = last;
  }
  return error;
}
%(variables)s
int %(entry)s(const tm_launch *, void **);
__attribute__((visibility("default"))) void tm_entry(void **arguments) {
  tm_trial.result = %(entry)s((const tm_launch *)arguments[0], arguments + 1);
}
}
"""
_VARIABLE = "void *{name}(void) {{ return tm_trial.variables[{index}]; }}"
_NOT_APPLICABLE = -1


class _State(ctypes.Structure):
    _fields_ = (
        ("ranges", ctypes.c_uint64 * 2 * _MOST_RANGES),
        ("count", ctypes.c_uint64),
        ("variables", ctypes.c_void_p * _MOST_RANGES),
        ("pieces", ctypes.c_int64),
        ("fast", ctypes.c_int32),
        ("result", ctypes.c_int32),
    )


@dataclass(frozen=True, slots=True)
class Subject:
    """An object to try: its text, the file that ships, and the accessors of device variables.

    ``symbols`` maps the variables' qualified names to the accessors that the text calls.
    """

    source: ObjectSource
    made: Path
    symbols: Mapping[str, str]
    cxx: str = "g++"


@dataclass(frozen=True, slots=True)
class _Way:
    name: str
    library: ctypes.CDLL
    pieces: int = 1
    fast: bool = True


class ObjectRun:
    """An object as something that runs a case (see ``trial.Rewritten``)."""

    def __init__(
        self, kernel: Kernel, subject: Subject, folder: Path, time_limit_ms: int = 4000
    ) -> None:
        self._kernel = kernel
        self._subject = subject
        self._folder = folder
        self._time_limit_ms = time_limit_ms
        self._ways: tuple[_Way, ...] | str | None = None

    def run(self, case: Case, order: str = "forward", poison: int = 0) -> Ran:
        """Execute ``case`` in every way; status ``disagrees`` where two leave different bits."""
        if self._ways is None:
            try:
                self._ways = self._built()
            except (NoObjectError, OSError) as error:
                self._ways = str(error)
        if isinstance(self._ways, str):
            return Ran("unbuilt", diagnostics=(diagnostic("TM6003", notes=(self._ways,)),))
        first: Ran | None = None
        for way in self._ways:
            ran = self._execute(way, case, order, poison)
            if not ran.ok:
                return ran if ran.status == "skipped" else _named(ran, way.name)
            if first is None:
                first = ran
                continue
            place = _difference(first, ran)
            if place:
                return Ran("disagrees", f"{place} depends on how the object runs ({way.name})")
        assert first is not None
        return first

    def _built(self) -> tuple[_Way, ...]:
        folder = self._folder / f"trial_{self._subject.source.entry}"
        folder.mkdir(parents=True, exist_ok=True)
        ships = self._linked(self._subject.made, folder / "ships.so")
        ways = [_Way("all blocks at once", ships), _Way("blocks in pieces", ships, pieces=3)]
        if "tm_run_fast" in self._subject.source.text:
            plain = folder / "plain.o"
            (folder / _SWITCH).write_text('extern "C" int tm_trial_fast(void);\n')
            switch = ("-DTM_FAST(c)=(tm_trial_fast() && (c))", "-include", str(folder / _SWITCH))
            flags = ("-DTM_CLONES=", *switch)
            compile_object(self._subject.source, plain, self._subject.cxx, flags)
            library = self._linked(plain, folder / "plain.so")
            ways.append(_Way("the plain body", library, fast=False))
            ways.append(_Way("for any processor", library, pieces=2))
        return tuple(ways)

    def _linked(self, made: Path, library: Path) -> ctypes.CDLL:
        if len(self._subject.symbols) > _MOST_RANGES:
            raise NoObjectError(f"it uses more than {_MOST_RANGES} variables")
        names = enumerate(self._subject.symbols.values())
        text = _SHIM % {
            "most": _MOST_RANGES,
            "entry": self._subject.source.entry,
            "variables": "\n".join(_VARIABLE.format(name=n, index=i) for i, n in names),
        }
        shim = library.with_suffix(".cpp")
        shim.write_text(text)
        command = [self._subject.cxx, "-O1", "-shared", "-fPIC", "-fvisibility=hidden"]
        command += [f"-I{include_dir()}", str(shim), str(made), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoObjectError("\n".join(done.stderr.splitlines()[:5]))
        return ctypes.CDLL(str(library))

    def _execute(self, way: _Way, case: Case, order: str, poison: int) -> Ran:
        extra = {f"global {name}": data for name, data in case.globals.items()}
        state = _State.in_dll(way.library, "tm_trial")
        with native.Arena() as arena:
            placed = Placed(case, arena, extra)
            ranges = placed.ranges()
            if len(ranges) > _MOST_RANGES:
                return Ran("skipped", f"it has more than {_MOST_RANGES} buffers")
            for i, (first, last) in enumerate(ranges):
                state.ranges[i][0], state.ranges[i][1] = first, last
            for i, name in enumerate(self._subject.symbols):
                state.variables[i] = placed.pointers.get(f"global {name}", 0)
            state.count, state.pieces, state.fast = len(ranges), way.pieces, int(way.fast)
            launch = case.launch
            head = struct.pack(
                _LAUNCH, *launch.grid, *launch.block, launch.shared_bytes, 0, 0, 0, 0, 0
            )
            values = [head, *packed(self._kernel, case, placed.pointers)]
            entry = ctypes.cast(way.library.tm_entry, ctypes.c_void_p).value or 0
            started = time.perf_counter()
            status = native.run_trampoline(
                entry,
                native.Arguments(values),
                arena,
                options=run_options(order, poison, self._time_limit_ms),
            )
            ran = placed.ran(status, {}, time.perf_counter() - started)
        if not ran.ok:
            return ran
        if state.result == _NOT_APPLICABLE:
            return Ran("skipped", "the object does not take this launch")
        if state.result:
            return Ran("failed", f"error {state.result}")
        memory = {name: data for name, data in ran.memory.items() if name not in extra}
        values_of = {name: ran.memory[f"global {name}"] for name in case.globals}
        return Ran("ok", memory=memory, globals=values_of, seconds=ran.seconds)


def _named(ran: Ran, way: str) -> Ran:
    return Ran(ran.status, f"{ran.detail} ({way})", diagnostics=ran.diagnostics)


def _difference(a: Ran, b: Ran) -> str:
    """The first element of which two runs leave different bits; "" if there is none."""
    for one, other in ((a.memory, b.memory), (a.globals, b.globals)):
        for name, data in one.items():
            shape = (data.size, data.itemsize)
            left, right = (
                np.ascontiguousarray(x).view(np.uint8).reshape(shape) for x in (data, other[name])
            )
            # The payload of a NaN is nothing that C promises; NaN is what differs from itself.
            numbers = (data == data) | (other[name] == other[name])
            where = np.flatnonzero((left != right).any(axis=1) & numbers.reshape(-1))
            if where.size:
                return f"{name}[{int(where[0])}]"
    return ""
