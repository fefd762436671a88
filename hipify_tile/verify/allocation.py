"""Does the program's own launch stay inside what the program allocates, and do its threads race?

Runs the original for each launch site whose sizes are all stated in the source, with buffers
of exactly those sizes. Inputs for verdicts come with buffers as large as the kernel needs, so they
do not show this. It says nothing of buffers that are indexed with loaded values.
"""

from __future__ import annotations

from collections.abc import Iterator

from hipify_tile.analyzer.model import KernelFact
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.verify.inputs import CaseSearch, Original

_MOST_THREADS = 1 << 20
_MOST_ELEMENTS = 1 << 26
_MOST_SECONDS = 0.3
"""What a launch may take that is searched for races, which takes some ten times as long."""


def beyond_allocation(
    fact: KernelFact, search: CaseSearch, original: Original
) -> Iterator[Diagnostic]:
    """Yield TM5009 for each launch site of ``fact`` that reaches beyond an allocation."""
    for site, launch in search.launches.own():
        elements = sum(e or 0 for e in launch.extents.values())
        if launch.threads > _MOST_THREADS or elements > _MOST_ELEMENTS:
            continue
        case, stated = search.allocated(launch)
        ran = original.run(case) if stated else None
        if ran is None or ran.status != "out_of_bounds" or ran.leaf not in stated:
            continue
        extent = launch.extents[ran.leaf]
        yield diagnostic(
            "TM5009",
            site.span,
            kernel=fact.id,
            headline=f"this launch reaches beyond what {ran.leaf} has"[:59],
            notes=(
                f"{ran.access}, but the program allocates {extent} elements for it",
                f"launched as {launch}; the verdict is for buffers that are large enough",
            ),
            help=f"allocate more for {ran.leaf}, or guard the access in the kernel",
        )


def race_of_launches(search: CaseSearch, original: Original) -> str:
    """What the threads of one of the program's own launches race for; empty if for nothing."""
    for _, launch in search.launches.own():
        elements = sum(e or 0 for e in launch.extents.values())
        if launch.threads > _MOST_THREADS or elements > _MOST_ELEMENTS:
            continue
        case, _ = search.allocated(launch)
        ran = original.run(case)
        race = original.race(case) if ran.ok and ran.seconds < _MOST_SECONDS else ""
        if race:
            return f"{race}; {launch}"
    return ""
