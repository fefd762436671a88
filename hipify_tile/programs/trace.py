"""The runtime's trace (``TILE_MIGRATE_TRACE``): a JSON object a line → counts.

A program that is ended by a signal or ``_exit`` writes none; of several processes each appends its
own lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Event = dict[str, Any]

OUTCOMES = ("served", "forwarded", "refused", "failed")
"""What becomes of a call: done by us, by the real library, by nobody, or ended with an error."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the CUDA runtime with its calls by outcome."""

    name: str
    served: int = 0
    forwarded: int = 0
    refused: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel's launches: ``ran`` counts by kind, ``passed_on`` those a kind did not take."""

    name: str
    mangled: str
    launches: int
    ran: dict[str, int]
    passed_on: dict[str, int]


@dataclass(frozen=True, slots=True)
class Trace:
    """All processes of a run together; ``notes`` are (text, times)."""

    processes: int
    functions: tuple[Function, ...]
    kernels: tuple[Kernel, ...]
    notes: tuple[tuple[str, int], ...]

    def total(self, outcome: str) -> int:
        """Return the number of calls with one of ``OUTCOMES``."""
        return sum(getattr(f, outcome) for f in self.functions)


def read_events(path: Path) -> tuple[Event, ...]:
    """Return the events of a file that may not be there; half-written lines are left out."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            found.append(event)
    return tuple(found)


def summarise(events: Iterable[Event]) -> Trace:
    """Add up the events of all processes."""
    processes = 0
    calls: dict[str, dict[str, int]] = {}
    kernels: dict[str, Kernel] = {}
    notes: dict[str, int] = {}
    for event in events:
        match event:
            case {"event": "process"}:
                processes += 1
            case {"event": "api", "name": str(name)}:
                row = calls.setdefault(name, dict.fromkeys(OUTCOMES, 0))
                for outcome in OUTCOMES:
                    row[outcome] += int(event.get(outcome, 0))
            case {"event": "kernel", "kernel": str(name), "mangled": str(mangled)}:
                old = kernels.get(mangled, Kernel(name, mangled, 0, {}, {}))
                kernels[mangled] = Kernel(
                    name,
                    mangled,
                    old.launches + int(event.get("launches", 0)),
                    _added(old.ran, event.get("ran", {})),
                    _added(old.passed_on, event.get("not_applicable", {})),
                )
            case {"event": "note", "what": str(what)}:
                text = f"{what}: {event['detail']}" if event.get("detail") else what
                notes[text] = notes.get(text, 0) + int(event.get("count", 1))
    functions = tuple(Function(name, **row) for name, row in sorted(calls.items()))
    return Trace(processes, functions, tuple(kernels.values()), tuple(notes.items()))


def _added(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {kind: a.get(kind, 0) + b.get(kind, 0) for kind in sorted({*a, *b})}


def as_dict(trace: Trace) -> dict[str, Any]:
    """Return the trace as plain data, for the JSON summary."""
    return {
        "processes": trace.processes,
        "calls": {outcome: trace.total(outcome) for outcome in OUTCOMES},
        "functions": [
            {"name": f.name, **{outcome: getattr(f, outcome) for outcome in OUTCOMES}}
            for f in trace.functions
        ],
        "kernels": [
            {
                "kernel": k.name,
                "mangled": k.mangled,
                "launches": k.launches,
                "ran": k.ran,
                "not_applicable": k.passed_on,
            }
            for k in trace.kernels
        ],
        "notes": [{"text": text, "count": count} for text, count in trace.notes],
    }


def render(trace: Trace) -> list[str]:
    """Return the trace as lines of at most about 80 columns, problems by name."""
    named = [f for f in trace.functions if f.served or f.forwarded or f.refused or f.failed]
    counts = [(o, trace.total(o)) for o in OUTCOMES]
    shown = " · ".join(f"{n} {o}" for o, n in counts if n or o == "served")
    lines = [f"calls      {shown}   ({len(named)} functions)"]
    for outcome in OUTCOMES[1:]:
        rows = [(f.name, getattr(f, outcome)) for f in named if getattr(f, outcome)]
        lines += _wrapped(outcome, [f"{name} {count}" for name, count in rows])
    if trace.kernels:
        kinds: dict[str, int] = {}
        for kernel in trace.kernels:
            kinds = _added(kinds, kernel.ran)
        total = sum(k.launches for k in trace.kernels)
        lines.append(f"launches   {total} of {len(trace.kernels)} kernels{_kinds(kinds)}")
        width = min(max(len(k.name) for k in trace.kernels), 40)
        lines += [f"           {k.name:<{width}}{_kinds(k.ran)}" for k in trace.kernels]
    lines += [f"note       {text}{f' ({n} times)' if n > 1 else ''}" for text, n in trace.notes]
    return lines


def _kinds(ran: dict[str, int]) -> str:
    return ": " + " · ".join(f"{n} {kind}" for kind, n in ran.items()) if ran else ""


def _wrapped(title: str, items: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= 80:
            lines[-1] += f", {item}"
        else:
            lines.append(f"{title if not lines else '':<10} {item}")
    return lines
