"""The report of mode ``check`` (``TILE_MIGRATE_CHECK_REPORT``): launches by kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from hipify_tile.programs.trace import Event, read_events


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One kernel in one run of a whole program.

    ``launches`` = ``equal`` + ``different`` + ``unchecked``. ``first`` is the first event of a
    launch that differed or failed, ``kinds`` are the implementations that were compared with the
    kept one (not known of a run that did not end by itself). ``tolerance`` is the relative error
    that counts as equal. ``reason`` says why a launch was not checked.
    """

    name: str
    mangled: str
    launches: int = 0
    equal: int = 0
    different: int = 0
    unchecked: int = 0
    max_relative: float = 0.0
    tolerance: float = 0.0
    reason: str = ""
    kinds: tuple[str, ...] = ()
    first: Event | None = None


class NoResultsError(Exception):
    """The file is not there or is no report of mode check; the text says which."""


def read(path: Path) -> tuple[KernelResult, ...]:
    """Return the results of a report; raises NoResultsError.

    A run that was ended by a signal has no summaries: its differences count, its equal launches are
    not known.
    """
    if not path.is_file():
        raise NoResultsError(f"{path}: no such file")
    events = read_events(path)
    found = of_events(events)
    if not found and os.path.getsize(path):
        raise NoResultsError(f"{path}: not a report of TILE_MIGRATE_CHECK_REPORT")
    return found


def of_events(events: Iterable[Event]) -> tuple[KernelResult, ...]:
    """Return the results by kernel, in the order of their first event."""
    rows: dict[str, KernelResult] = {}
    seen: dict[str, int] = {}
    for event in events:
        match event:
            case {"event": "difference" | "failure", "kernel": str(name), "mangled": str(mangled)}:
                row = rows.setdefault(mangled, KernelResult(name, mangled))
                seen[mangled] = seen.get(mangled, 0) + 1
                rows[mangled] = replace(row, first=row.first or event)
            case {"event": "summary", "kernel": str(name), "mangled": str(mangled)}:
                row = rows.setdefault(mangled, KernelResult(name, mangled))
                rows[mangled] = replace(
                    row,
                    launches=row.launches + int(event.get("launches", 0)),
                    equal=row.equal + int(event.get("equal", 0)),
                    different=row.different + int(event.get("different", 0)),
                    unchecked=row.unchecked + int(event.get("unchecked", 0)),
                    max_relative=max(row.max_relative, _number(event.get("max_relative", 0.0))),
                    tolerance=max(row.tolerance, _number(event.get("tolerance", 0.0))),
                    reason=row.reason or str(event.get("reason", "")),
                    kinds=tuple(sorted({*row.kinds, *event.get("kinds", ())})),
                )
    for mangled, count in seen.items():
        row = rows[mangled]
        if row.different < count:
            rows[mangled] = replace(row, different=count, launches=max(row.launches, count))
    return tuple(rows.values())


def _number(value: object) -> float:
    """A number of the report, where null stands for one that is not finite."""
    return float(value) if isinstance(value, int | float) else float("inf")


def describe(event: Event) -> str:
    """One line about a launch that differed: which, where, and both values."""
    launch = f"launch {event.get('launch', '?')}"
    if event.get("event") == "failure":
        return (
            f"{launch}: the {event.get('kind')} implementation failed, error {event.get('error')}"
        )
    place = f"{event.get('argument')}[{event.get('index')}]"
    values = f"{event.get('kept')} kept, {event.get('migrated')} as {event.get('kind')}"
    return f"{launch}: {place} is {values}; {event.get('differing')} elements differ"
