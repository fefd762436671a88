"""``tile-migrate explain CODE``: the page of a diagnostic."""

from __future__ import annotations

import difflib
import sys
from typing import Annotated

import typer

from hipify_tile.cli.refusal import refuse


def explain(
    code: Annotated[
        str, typer.Argument(help="A code such as TM1204, or its name.", show_default=False)
    ],
) -> None:
    """Explain a diagnostic: what it means, an example, how to fix it."""
    from hipify_tile.diagnostics.page import read
    from hipify_tile.diagnostics.registry import REGISTRY

    wanted = code.strip()
    names = {row.name: row.code for row in REGISTRY.values()}
    key = names.get(wanted.lower(), wanted.upper())
    try:
        page = read(key)
    except KeyError:
        near = difflib.get_close_matches(key, REGISTRY, 1, 0.6)
        near += difflib.get_close_matches(wanted.lower(), names, 1, 0.6)
        hint = f"; nearest is {near[0]}" if near else ""
        refuse(f"there is no diagnostic {wanted}{hint}")
    if not sys.stdout.isatty():
        typer.echo(page.text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(Markdown(page.text), width=min(console.width, 80))
