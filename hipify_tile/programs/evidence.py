"""Results of mode check and of replayed launches → evidence about kernels, by mangled name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hipify_tile.programs import results
from hipify_tile.programs.results import KernelResult
from hipify_tile.verify.model import ProgramEvidence


def of_files(files: Iterable[Path], sources: Mapping[str, str]) -> dict[str, list[ProgramEvidence]]:
    """Return the evidence of mode check's reports; raises NoResultsError.

    ``sources`` gives the file of each kernel: results that are older are marked so.
    """
    found: dict[str, list[ProgramEvidence]] = {}
    for file in files:
        for row in results.read(file):
            old = _is_older(file, sources.get(row.mangled, ""))
            found.setdefault(row.mangled, []).append(of_result(row, str(file), outdated=old))
    return found


def of_result(row: KernelResult, source: str, *, outdated: bool = False) -> ProgramEvidence:
    """Return one kernel's result as evidence."""
    kinds = row.kinds or ((str(row.first["kind"]),) if row.first and "kind" in row.first else ())
    return ProgramEvidence(
        source=source,
        equal=row.equal,
        different=row.different,
        unchecked=row.unchecked,
        level=kinds[0] if len(kinds) == 1 else "",
        first=results.describe(row.first) if row.first else "",
        reason=row.reason,
        tolerance=row.tolerance,
        outdated=outdated,
    )


def total(rows: Sequence[ProgramEvidence]) -> ProgramEvidence:
    """Return the sum of evidence of one origin about one kernel."""
    levels = {r.level for r in rows if r.level}
    return ProgramEvidence(
        source=rows[0].source,
        equal=sum(r.equal for r in rows),
        different=sum(r.different for r in rows),
        unchecked=sum(r.unchecked for r in rows),
        level=levels.pop() if len(levels) == 1 else "",
        first=next((r.first for r in rows if r.first), ""),
        reason=next((r.reason for r in rows if r.reason), ""),
        outdated=any(r.outdated for r in rows),
        tolerance=max(r.tolerance for r in rows),
    )


def merged(
    origins: Sequence[Mapping[str, Sequence[ProgramEvidence]]],
) -> dict[str, list[ProgramEvidence]]:
    """Put evidence of several origins together."""
    found: dict[str, list[ProgramEvidence]] = {}
    for origin in origins:
        for mangled, rows in origin.items():
            found.setdefault(mangled, []).extend(rows)
    return found


def _is_older(file: Path, source: str) -> bool:
    return bool(source) and os.path.getmtime(file) < os.path.getmtime(source)
