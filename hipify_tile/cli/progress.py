"""Progress on stderr: a bar on a terminal, nothing when piped or quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hipify_tile.driver import Progress
from hipify_tile.report.model import UnitReport


@contextmanager
def bar(*, quiet: bool, label: str, total: int) -> Iterator[Progress | None]:
    """Yield a callback that shows progress, None where there is nobody to see it.

    ``total`` is the number of files as known before the first is done.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn(f"  {label}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("files · {task.fields[kernels]} kernels"),
        TimeElapsedColumn(),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(label, total=total, kernels=0)
        kernels = 0

        def advance(done: int, total: int, report: UnitReport) -> None:
            nonlocal kernels
            kernels += len(report.kernels)
            shown.update(task, completed=done, total=total, kernels=kernels)

        yield advance
