"""What becomes of a call of a CUDA library function: the tables of the runtime libraries.

Reads ``*/symbols.toml`` beside this module; loads no library and runs nothing.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path


class Status(Enum):
    """``SERVED`` by our library, ``REFUSED`` with an error and traced, or in no table."""

    SERVED = "served"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A row of a table. ``after`` is the version of CUDA that does not have the name yet, or ""."""

    name: str
    library: str
    status: Status
    twin_of: str = ""
    after: str = ""


@cache
def table() -> dict[str, Symbol]:
    """Return every known symbol by name. Raises OSError where a table cannot be read."""
    rows: dict[str, Symbol] = {}
    for path in sorted(Path(__file__).resolve().parent.glob("*/symbols.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for library, symbols in content.items():
            for name, row in symbols.items():
                served = row["status"] == "implemented"
                rows[name] = Symbol(
                    name,
                    library,
                    Status.SERVED if served else Status.REFUSED,
                    row.get("twin_of", ""),
                    row.get("after", ""),
                )
    return rows


# Programs write these; the headers make them calls of the functions named here.
_BY_HEADER = {
    "cudaThreadSynchronize": "cudaDeviceSynchronize",
    "cudaThreadExit": "cudaDeviceReset",
    "cudaOccupancyMaxPotentialBlockSize": "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxPotentialBlockSizeVariableSMem": (
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor"
    ),
    "cudaLaunchKernelEx": "cudaLaunchKernelExC",
}


def status_of(name: str) -> Status:
    """Return what becomes of calls of ``name`` in a program that runs on our libraries."""
    rows = table()
    found = rows.get(name) or rows.get(_BY_HEADER.get(name, ""))
    return found.status if found else Status.UNKNOWN
