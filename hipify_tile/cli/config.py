"""``tile-migrate config``: the settings in effect and where they come from."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated

import typer

from hipify_tile.cli import options as opt
from hipify_tile.cli.refusal import refuse


def config(
    path: Annotated[Path, typer.Argument(help="Where to look for a configuration.")] = Path("."),
    file: opt.ConfigFile = None,
) -> None:
    """Show the settings in effect, as TOML."""
    from hipify_tile.cli import session

    try:
        settings = session.read_config(path, file)
    except session.UsageError as error:
        refuse(str(error))
    typer.echo(f"# from {settings.file or 'the defaults (no configuration file found)'}")
    tables: list[tuple[str, dict[str, object]]] = []
    for item in fields(settings):
        value = getattr(settings, item.name)
        if item.name in ("root", "file"):
            continue
        if item.name == "ignore":
            tables.append(("per-file-ignores", dict(value)))
        elif is_dataclass(value):
            table = {f.name.replace("_", "-"): getattr(value, f.name) for f in fields(value)}
            tables.append((item.name, table))
        else:
            typer.echo(f"{item.name.replace('_', '-')} = {_toml(value)}")
    for name, table in tables:
        typer.echo(f"\n[{name}]")
        for key, entry in table.items():
            shown = json.dumps(key) if name == "per-file-ignores" else key
            typer.echo(f"{shown} = {_toml(entry)}")


def _toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
