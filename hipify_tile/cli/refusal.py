"""How a command refuses what it was asked: a line on stderr and exit status 2."""

from __future__ import annotations

from typing import NoReturn

import typer


def refuse(text: str) -> NoReturn:
    """Print ``text`` as an error of usage and exit with 2."""
    typer.echo(f"error: {text}", err=True)
    raise typer.Exit(2)
