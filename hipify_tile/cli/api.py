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

    unknown = False
    for name in names:
        library = library_of(name)
        unknown = unknown or not library
        if library:
            typer.echo(f"{name}: {library}; calls are counted and left as they are (TM3001)")
        else:
            typer.echo(f"{name}: not a function of a CUDA library that tile-migrate knows")
    raise typer.Exit(1 if unknown else 0)
