"""``tile-migrate api NAME``: the library of a function, and what becomes of its calls."""

from __future__ import annotations

from typing import Annotated

import typer


def api(
    names: Annotated[
        list[str], typer.Argument(help="Functions such as cublasSgemm.", show_default=False)
    ],
) -> None:
    """Say what becomes of calls of a library function."""
    from hipify_tile.analyzer.host_calls import library_of
    from hipify_tile.compat.symbols import Status, status_of, table

    unknown = False
    for name in names:
        library = library_of(name)
        unknown = unknown or not (library or name in table())
        status = status_of(name)
        if status is Status.UNKNOWN and library:
            typer.echo(f"{name}: {library}; calls are counted and left as they are (TM3001)")
        elif status is Status.UNKNOWN:
            typer.echo(f"{name}: not a function of a CUDA library that tile-migrate knows")
        else:
            typer.echo(f"{name}: {_row(name)}")
    raise typer.Exit(1 if unknown else 0)


def _row(name: str) -> str:
    from hipify_tile.compat.symbols import Status, status_of, table

    row = table().get(name)
    refused = status_of(name) is Status.REFUSED
    text = f"{'refused' if refused else 'served'} by the runtime of programs on a CPU"
    if refused:
        text += ": cudaErrorNotSupported, counted in the trace"
    if row and row.twin_of:
        text += f"; {row.twin_of} with the thread's own stream as default"
    if row and row.after:
        text += f"; newer than CUDA {row.after}"
    return text
