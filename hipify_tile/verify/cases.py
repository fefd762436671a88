"""A verification case: one launch with all its values, and its file form.

Says nothing about where the values come from (``shapes.py``, ``contents.py``) or how they run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from hipify_tile.ir.types import ScalarType

Array = NDArray[np.generic]
Triple = tuple[int, int, int]


def numpy_dtype(dtype: ScalarType) -> np.dtype[np.generic]:
    """The numpy dtype that stores ``dtype``."""
    name = dtype.name
    storage: np.dtype[np.generic] = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    return storage


@dataclass(frozen=True, slots=True)
class Memory:
    """What a pointer leaf points at.

    ``data`` are the elements of the accessible range, and the pointer is ``origin`` elements after
    its first one (so index ``-origin`` is the lowest legal). With ``alias`` set, the pointer is
    instead ``alias_offset`` bytes after that of the leaf named ``alias`` and ``data`` is empty.
    """

    data: Array
    origin: int = 0
    alias: str = ""
    alias_offset: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch geometry and scalar leaves. ``real`` marks a configuration of a launch site.

    ``roots`` names the allocation that a pointer leaf points into, ``offsets`` at how many bytes
    after its start; a leaf that is missing in either may point anywhere. ``owned`` are the leaves
    whose roots are allocations of their own, so that different names are different memory.
    """

    label: str
    grid: Triple
    block: Triple
    shared_bytes: int
    scalars: dict[str, int | float | bool]
    extents: dict[str, int | None]
    roots: dict[str, str]
    real: bool = False
    offsets: dict[str, int] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()

    @property
    def threads(self) -> int:
        """Number of threads of the whole grid."""
        gx, gy, gz = self.grid
        bx, by, bz = self.block
        return gx * gy * gz * bx * by * bz

    def __str__(self) -> str:
        grid = ",".join(map(str, self.grid))
        block = ",".join(map(str, self.block))
        scalars = " ".join(f"{k}={v}" for k, v in self.scalars.items())
        shared = f" shared={self.shared_bytes}" if self.shared_bytes else ""
        return f"<<<({grid}),({block})>>>{shared} {scalars}".rstrip()


@dataclass(frozen=True, slots=True)
class Case:
    """A launch with the contents of every pointer leaf and every global variable.

    ``profile`` names how the contents were drawn. ``end_flush`` says at which end of each arena the
    guard page touches the data.
    """

    launch: Launch
    profile: str
    memory: dict[str, Memory]
    globals: dict[str, Array]
    end_flush: bool = True

    def __str__(self) -> str:
        extents = " ".join(
            f"{n}[{m.data.size}]" if not m.alias else f"{n}={m.alias}+{m.alias_offset}B"
            for n, m in self.memory.items()
        )
        return f"{self.launch} {extents} ({self.profile})"


def with_flush(case: Case, end_flush: bool) -> Case:
    """The same case with its data against the other guard page."""
    return replace(case, end_flush=end_flush)


def save_case(case: Case, expected: dict[str, Array], got: dict[str, Array], path: Path) -> None:
    """Write ``case`` with both results to an ``.npz`` file.

    Arrays ``in:NAME``, ``global:NAME``, ``expected:NAME`` and ``got:NAME``; ``header`` is the
    launch as JSON, with each pointer as [elements before it, aliased leaf, byte offset].
    """
    arrays: dict[str, Array] = {}
    for name, memory in case.memory.items():
        arrays[f"in:{name}"] = _storable(memory.data)
    for name, data in case.globals.items():
        arrays[f"global:{name}"] = _storable(data)
    arrays |= {f"expected:{n}": _storable(a) for n, a in expected.items()}
    arrays |= {f"got:{n}": _storable(a) for n, a in got.items()}
    launch = case.launch
    header = {
        "grid": launch.grid,
        "block": launch.block,
        "shared_bytes": launch.shared_bytes,
        "scalars": {k: repr(v) for k, v in launch.scalars.items()},
        "profile": case.profile,
        "pointers": {n: [m.origin, m.alias, m.alias_offset] for n, m in case.memory.items()},
    }
    arrays["header"] = np.array(json.dumps(header))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as f:
        np.savez(f, allow_pickle=False, **arrays)


def _storable(data: Array) -> Array:
    return data.view(np.uint16) if data.dtype == np.dtype(ml_dtypes.bfloat16) else data
