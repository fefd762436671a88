"""Replays launches that a program recorded (``TILE_MIGRATE_MODE=record``), old against new.

Each launch runs in a process of its own, in mode check: kept and migrated code on the same memory,
as it was recorded, at the same addresses. A launch counts as compared only if the kept code
computes again what was recorded: otherwise something that it depends on is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipify_tile.programs import replay_worker, results
from hipify_tile.programs.process import switched

_FORMAT = 1
_TRIES = 5


class NoRecordingsError(Exception):
    """The folder is not there or holds no recorded launch; the text says which."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded launch: its folder, the kernel, and the launch's number in the program."""

    folder: Path
    kernel: str
    mangled: str
    number: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome of one launch; ``why`` says why it was not compared (empty: it was).

    ``result`` is mode check's result of this launch.
    """

    recording: Recording
    why: str = ""
    result: results.KernelResult | None = None


def recordings(folder: Path) -> tuple[Recording, ...]:
    """Return the launches below ``folder``; raises NoRecordingsError."""
    if not folder.is_dir():
        raise NoRecordingsError(f"{folder}: no such folder")
    found = []
    for file in sorted(folder.glob("*/launch.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if data["format"] != _FORMAT:
                raise NoRecordingsError(f"{file}: format {data['format']} is not known")
            row = Recording(file.parent, data["kernel"], data["mangled"], int(data["launch"]))
        except (ValueError, KeyError, TypeError) as error:
            raise NoRecordingsError(f"{file}: not a recorded launch") from error
        found.append(row)
    if not found:
        raise NoRecordingsError(f"{folder}: holds no recorded launch (*/launch.json)")
    return tuple(found)


def replay(
    recorded: Sequence[Recording],
    library: Path,
    runtime: Path,
    scratch: Path,
    *,
    tolerance: Callable[[Recording], float] = lambda recording: 0.0,
    timeout: float = 120.0,
) -> tuple[Replayed, ...]:
    """Run every launch with the kernels of ``library``.

    ``tolerance`` gives the relative error that counts as equal, ``timeout`` is in seconds.
    """
    return tuple(
        _replay(item, library, runtime, scratch, tolerance(item), timeout) for item in recorded
    )


def _replay(
    item: Recording, library: Path, runtime: Path, scratch: Path, rtol: float, timeout: float
) -> Replayed:
    report = scratch / "replay.jsonl"
    switches = {"MODE": "check", "CHECK_REPORT": str(report), "CHECK_RTOL": repr(rtol)}
    environment = switched(os.environ, **switches)
    environment |= {"LD_PRELOAD": str(runtime), "TILE_MIGRATE_MEMORY": "16M"}
    words = [str(Path(replay_worker.__file__)), str(library), str(runtime), str(item.folder)]
    for _ in range(_TRIES):
        report.unlink(missing_ok=True)
        try:
            done = subprocess.run(
                [sys.executable, "-I", *words],
                env=environment,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Replayed(item, f"it did not end within {timeout:.0f} s")
        if done.returncode != replay_worker.TAKEN:
            break
    else:
        return Replayed(item, "its addresses are taken in this process")
    return _outcome(item, done, report)


def _outcome(item: Recording, done: subprocess.CompletedProcess[str], report: Path) -> Replayed:
    try:
        said = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"{done.returncode}"
        last = done.stderr.strip().splitlines()[-1:]
        return Replayed(item, ": ".join([f"its process ended with {ended}", *last]))
    if "why" in said:
        return Replayed(item, said["why"])
    if said["error"]:
        return Replayed(item, f"the kept code fails with error {said['error']}")
    if not said["reproduced"]:
        return Replayed(item, "the kept code does not compute what was recorded")
    rows = [r for r in results.read(report) if r.mangled == item.mangled]
    if not rows or rows[0].launches == rows[0].unchecked:
        return Replayed(item, rows[0].reason if rows else "nothing was compared")
    return Replayed(item, result=rows[0])
