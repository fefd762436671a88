"""``UnitReport``s → ``Report``: one row a kernel, launch, call and finding.

A header that several units include is reported once. Kernels of one id whose emissions or verdicts
differ between units stay apart (``<id>@<unit>``) and get TM0008.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hipify_tile.analyzer.model import FileStatus
from hipify_tile.compat.symbols import status_of
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.report.model import (
    CallReport,
    KernelReport,
    LaunchReport,
    Report,
    Tool,
    UnitReport,
    Verdict,
    sort_key,
)

_STATUS = ("parsed", "partial", "unparsed")


def assemble(
    units: Sequence[UnitReport],
    *,
    tool: Tool,
    root: str,
    command: Sequence[str] = (),
    extra: Iterable[Diagnostic] = (),
    verify_requested: bool = False,
    environment: tuple[tuple[str, str], ...] = (),
) -> Report:
    """Merge ``units``; ``extra`` are findings of no unit. The duration is the caller's to set."""
    units = [_missing_header_first(unit) for unit in units]
    kernels = _kernels(units)
    found = [*extra]
    for unit in units:
        found += unit.diagnostics
    for kernel in kernels:
        found += kernel.diagnostics
    unique = {(d.code, d.span, d.headline, d.notes, d.kernel): d for d in found}
    return Report(
        tool=tool,
        root=root,
        command=tuple(command),
        files=_files(units),
        kernels=kernels,
        launches=_launches(units),
        calls=_calls(units),
        diagnostics=tuple(sorted(unique.values(), key=sort_key)),
        seconds=0.0,
        verify_requested=verify_requested,
        environment=environment,
    )


def _missing_header_first(unit: UnitReport) -> UnitReport:
    """Where a header is missing, say so at the findings that finding it may settle."""
    missing = [d for d in unit.diagnostics if d.code == "TM0001"]
    if not missing:
        return unit
    help = f"first settle TM0001 ({missing[0].headline}): it may be the cause"

    def led(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(replace(d, help=help) if d.code in _AFTER_HEADERS else d for d in found)

    kernels = tuple(replace(k, diagnostics=led(k.diagnostics)) for k in unit.kernels)
    return replace(unit, diagnostics=led(unit.diagnostics), kernels=kernels)


_AFTER_HEADERS = frozenset({"TM0002", "TM0004", "TM1201", "TM1202"})
"""Codes that a missing header may bring about."""


def _kernels(units: Sequence[UnitReport]) -> tuple[KernelReport, ...]:
    by_id: dict[str, list[KernelReport]] = {}
    for unit in units:
        for kernel in unit.kernels:
            rows = by_id.setdefault(kernel.id, [])
            same = next((i for i, other in enumerate(rows) if _same(kernel, other)), None)
            if same is None:
                rows.append(replace(kernel, units=(unit.path,)))
            else:
                rows[same] = replace(rows[same], units=(*rows[same].units, unit.path))
    instantiated = {
        (k.file, k.line) for rows in by_id.values() for k in rows if not _uninstantiated(k)
    }
    merged: list[KernelReport] = []
    for rows in by_id.values():
        live = [k for k in rows if not (_uninstantiated(k) and (k.file, k.line) in instantiated)]
        if len(live) == 1:
            merged.append(live[0])
        else:
            programs = {_programs(k) for k in live}
            names = _unit_names([k.units[0] for k in live])
            merged += [
                _conflicting(name, k, same=len(programs) == 1)
                for name, k in zip(names, live, strict=True)
            ]
    return tuple(sorted(merged, key=lambda k: (k.file, k.line, k.id)))


def _same(a: KernelReport, b: KernelReport) -> bool:
    return a.verdict is b.verdict and a.level is b.level and _programs(a) == _programs(b)


def _programs(k: KernelReport) -> tuple[str | None, ...]:
    return tuple(x.emission.source if x.emission else None for x in k.levels)


def _uninstantiated(kernel: KernelReport) -> bool:
    return any(d.code == "TM1201" for d in kernel.diagnostics)


def _unit_names(paths: Sequence[str]) -> list[str]:
    """The shortest ends of paths, whole names of folders and files, that tell them apart."""
    parts = [path.split(os.sep) for path in paths]
    for length in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(p[-length:]) for p in parts]
        if len(set(names)) == len(names):
            return names
    return list(paths)


def _conflicting(unit: str, kernel: KernelReport, *, same: bool) -> KernelReport:
    """One variant of a kernel; ``same`` says that only the verdicts of the variants differ."""
    own = f"{kernel.id}@{unit}"
    spans = [d.span for d in kernel.diagnostics if d.span and d.span.file == kernel.file]
    conflict = diagnostic(
        "TM0008",
        spans[0] if spans else None,
        headline="a header's kernel has other verdicts in other includers" if same else "",
        kernel=own,
        notes=(f"{kernel.name} as {unit} sees it: {kernel.verdict.value}",),
        help="see the other finding of this kernel: the includers' launches or headers differ"
        if same
        else "give the variants different names, or include the header with the same macros",
    )
    found = tuple(replace(d, kernel=own) for d in kernel.diagnostics)
    return replace(kernel, id=own, diagnostics=(*found, conflict))


def _files(units: Sequence[UnitReport]) -> tuple[FileStatus, ...]:
    rows: dict[str, FileStatus] = {}
    for unit in units:
        for status in unit.files:
            old = rows.get(status.path)
            if old is None or _STATUS.index(status.status) > _STATUS.index(old.status):
                rows[status.path] = status
    return tuple(rows[path] for path in sorted(rows))


def _launches(units: Sequence[UnitReport]) -> tuple[LaunchReport, ...]:
    rows = {(x.file, x.line, x.kernel, x.grid, x.block): x for u in units for x in u.launches}
    return tuple(sorted(rows.values(), key=lambda x: (x.file, x.line, x.kernel)))


def _calls(units: Sequence[UnitReport]) -> tuple[CallReport, ...]:
    sites = {call for unit in units for call in unit.calls}
    counts = Counter((library, api) for api, library, _ in sites)
    return tuple(
        CallReport(api, library, count, status_of(api).value)
        for (library, api), count in sorted(counts.items())
    )


def exit_code(report: Report) -> int:
    """Return 101 for our own bug, 1 if there is an ``exit_reasons``, else 0."""
    if report.internal_errors:
        return 101
    return 1 if exit_reasons(report) else 0


def exit_reasons(report: Report) -> dict[str, int]:
    """Return why the exit status is not 0, with how often: the keys are part of the JSON schema.

    ``findings``: errors and warnings that nothing hides. ``unparsed``: kernels that could not be
    read, which a suppressed finding does not change. ``outdated``: files that ``--check`` found to
    differ.
    """
    counts = {
        "findings": len(report.findings),
        "unparsed": report.count(Verdict.UNPARSED),
        "outdated": report.outdated or 0,
    }
    return {reason: count for reason, count in counts.items() if count}
