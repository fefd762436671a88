"""Runs one recorded launch in a process of its own: memory at its old addresses, then the launch.

Started as a script with LIBRARY RUNTIME FOLDER; prints a JSON object. Only the standard library is
used, so that nothing of this package takes addresses. Mode check of the runtime does the comparing;
what is compared here is the kept implementation's result with the recorded one.

Exit status 75: an address is taken, another process may be luckier.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

TAKEN = 75
_PAGE = os.sysconf("SC_PAGESIZE")
_PROT_READ_WRITE = 3
_PRIVATE_ANONYMOUS = 0x22
_FIXED_NOREPLACE = 0x100000
_FILES = ("before", "after")


class Launch(ctypes.Structure):
    """``tm_launch`` of ``tm_launch.h``."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("cooperative", ctypes.c_uint32),
        ("kernel", ctypes.c_char_p),
        ("number", ctypes.c_uint64),
    )


class CannotReplayError(Exception):
    """The launch cannot be run again; the text says why."""


def main(library: str, runtime: str, folder: str) -> None:
    """Replay the launch in ``folder``."""
    saved: dict[str, Any] = json.loads(Path(folder, "launch.json").read_text(encoding="utf-8"))
    regions = saved["regions"]
    map_memory([r for r in regions if not r["symbol"]])
    cudart = ctypes.CDLL(runtime, ctypes.RTLD_GLOBAL)
    try:
        kernels = ctypes.CDLL(library)
        result = replay(saved, Path(folder), cudart)
        del kernels
    except (CannotReplayError, OSError) as error:
        result = {"why": str(error)}
    print(json.dumps(result))


def map_memory(regions: list[dict[str, Any]]) -> None:
    """Map the pages of all regions where they were."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    spans = sorted(
        (r["address"] // _PAGE, -(-(r["address"] + r["bytes"]) // _PAGE)) for r in regions
    )
    merged: list[list[int]] = []
    for first, last in spans:
        if merged and first <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    flags = _PRIVATE_ANONYMOUS | _FIXED_NOREPLACE
    for first, last in merged:
        address, size = first * _PAGE, (last - first) * _PAGE
        if libc.mmap(address, size, _PROT_READ_WRITE, flags, -1, 0) != address:
            raise SystemExit(TAKEN)


def replay(saved: dict[str, Any], folder: Path, cudart: ctypes.CDLL) -> dict[str, Any]:
    """Fill memory, launch, and say whether kept computed what was recorded."""
    regions = saved["regions"]
    before, after = ([(folder / r[key]).read_bytes() for r in regions] for key in _FILES)
    sizes = [r["bytes"] for r in regions]
    if any(list(map(len, files)) != sizes for files in (before, after)):
        raise CannotReplayError("its files do not have the sizes that launch.json says")
    _refuse_pointers_to_variables(saved, before)
    addresses = [_address(r, cudart) for r in regions]
    for address, data in zip(addresses, before, strict=True):
        ctypes.memmove(address, data, len(data))
    values = [bytes.fromhex(a["value"]) for a in saved["arguments"]]
    buffers = [ctypes.create_string_buffer(v, len(v)) for v in values]
    arguments = (ctypes.c_void_p * len(buffers))(*(ctypes.addressof(b) for b in buffers))
    launch = Launch(
        grid=(ctypes.c_uint32 * 3)(*saved["grid"]),
        block=(ctypes.c_uint32 * 3)(*saved["block"]),
        shared_bytes=saved["shared_bytes"],
        cooperative=saved["cooperative"],
        kernel=saved["mangled"].encode(),
    )
    cudart.tm_launch_named.argtypes = (ctypes.POINTER(Launch), ctypes.c_void_p)
    error = cudart.tm_launch_named(ctypes.byref(launch), arguments)
    same = all(
        ctypes.string_at(address, len(data)) == data
        for address, data in zip(addresses, after, strict=True)
    )
    return {"error": error, "reproduced": same}


def _address(region: dict[str, Any], cudart: ctypes.CDLL) -> int:
    """Where the region is in this process; memory is made known to the runtime."""
    if not region["symbol"]:
        cudart.cudaHostRegister.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint)
        error = cudart.cudaHostRegister(region["address"], region["bytes"], 0)
        if error:
            raise CannotReplayError(f"its memory cannot be registered: error {error}")
        address: int = region["address"]
        return address
    size = ctypes.c_uint64()
    cudart.tm_find_variable.restype = ctypes.c_void_p
    cudart.tm_find_variable.argtypes = (ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64))
    found = cudart.tm_find_variable(region["symbol"].encode(), ctypes.byref(size))
    if not found:
        raise CannotReplayError(f"the sources have no device variable {region['symbol']}")
    if size.value != region["bytes"]:
        raise CannotReplayError(f"device variable {region['symbol']} has another size now")
    place: int = found
    return place


def _refuse_pointers_to_variables(saved: dict[str, Any], before: list[bytes]) -> None:
    """A variable is at another address in this process: its old one must be nowhere."""
    ranges = [(r["address"], r["address"] + r["bytes"]) for r in saved["regions"] if r["symbol"]]
    if not ranges:
        return
    for data in (*before, *(bytes.fromhex(a["value"]) for a in saved["arguments"])):
        words = array.array("Q", data[: len(data) // 8 * 8])
        if any(first <= word < last for word in words for first, last in ranges):
            raise CannotReplayError("memory holds the address of a device variable")


if __name__ == "__main__":
    main(*sys.argv[1:4])
