"""``tile-migrate run -- ./app``: a program on our CUDA runtime, and what became of its calls."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hipify_tile.cli.refusal import refuse


class RunMode(StrEnum):
    """Values of TILE_MIGRATE_MODE."""

    KEPT = "kept"
    MIGRATED = "migrated"
    CHECK = "check"
    RECORD = "record"


def run(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(hidden=True, metavar="-- PROGRAM")] = None,
    mode: Annotated[
        RunMode | None, typer.Option("--mode", help="Which implementations run.")
    ] = None,
    kernels: Annotated[
        str | None,
        typer.Option("--kernels", help="Per kernel: 'a=tile,b=kept'.", metavar="LIST"),
    ] = None,
    preload: Annotated[
        list[Path],
        typer.Option("--preload", help="Load this library of kernels too.", metavar="FILE"),
    ] = [],  # noqa: B006 (Typer copies it)
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Keep the runtime's trace.", metavar="FILE")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", help="Write the summary as JSON.", metavar="FILE")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No summary on stderr.")] = False,
) -> None:
    """Run a program on this CUDA runtime: -- ./app ARGUMENTS.

    The exit status, or the signal that ends it, is the program's.
    """
    from hipify_tile.compat import library_path
    from hipify_tile.programs import preload as loading
    from hipify_tile.programs import process
    from hipify_tile.programs.trace import read_events, summarise

    command = program_of(ctx, words, "run")
    with tempfile.TemporaryDirectory(prefix="tile-migrate-") as name:
        scratch = Path(name)
        file = (trace or scratch / "trace.jsonl").absolute()
        switches = {"TRACE": str(file)}
        if mode is not None:
            switches["MODE"] = mode.value
        if kernels is not None:
            switches["KERNELS"] = kernels
        try:
            way = loading.choose(process.find_program(command), os.environ)
            runtime = library_path("cudart")
            more = [_library(path) for path in preload]
            if trace is not None:
                trace.write_text("", encoding="utf-8")
            switched = {f"TILE_MIGRATE_{key}": value for key, value in switches.items()}
            environment = loading.apply(way, {**os.environ, **switched}, runtime, more, scratch)
            if way.warning:
                typer.echo(f"tile-migrate: warning: {way.warning}", err=True)
            ended = process.watch(command, environment)
        except (process.CannotRunError, OSError) as error:
            refuse(str(error))
        events = read_events(file)
    found = summarise(events)
    if not quiet:
        sys.stderr.write(_text(command, ended, way, found, traced=bool(events)))
    if summary is not None:
        try:
            summary.write_text(_json(command, ended, way, found, traced=bool(events)), "utf-8")
        except OSError as error:
            typer.echo(f"error: cannot write {summary}: {error.strerror}", err=True)
    sys.stderr.flush()
    raise typer.Exit(process.end_as(ended.status))


def program_of(ctx: typer.Context, words: list[str] | None, command: str) -> tuple[str, ...]:
    """Return the program and its arguments, which stand after ``--``; refuse if there are none."""
    program: tuple[str, ...] = ctx.obj or ()
    if words:
        more = "" if program else f"; to migrate sources: tile-migrate {words[0]}"
        refuse(f"{words[0]}: a program stands after --: tile-migrate {command} -- ./app{more}")
    if not program:
        refuse(f"no program was given: tile-migrate {command} -- ./app ARGUMENTS")
    return program


def _library(path: Path) -> Path:
    if not path.is_file():
        refuse(f"{path}: no such file")
    return path.absolute()


def _text(command: tuple[str, ...], ended: Any, way: Any, found: Any, *, traced: bool) -> str:
    from hipify_tile.programs.trace import render

    lines = [f"tile-migrate: {command[0]}: {ended.text} after {ended.seconds:.1f} s"]
    lines.append(f"runtime    {way.text}")
    if traced:
        lines += render(found)
    else:
        why = "it did not end by itself" if ended.status < 0 else "it called no CUDA function of it"
        lines.append(f"calls      none were traced: {why}")
    if any("without an implementation" in text for text, _ in found.notes):
        lines.append(
            "hint       tile-migrate build SRC -o libkernels.so -- -shared makes a library"
        )
        lines.append("           of kernels; --preload ./libkernels.so runs them")
    for name, there in way.others:
        lines.append(f"library    {name}: not served{'' if there else ', and not found'}")
    return "\n  ".join(lines) + "\n"


def _json(command: tuple[str, ...], ended: Any, way: Any, found: Any, *, traced: bool) -> str:
    from hipify_tile.programs.process import signal_name
    from hipify_tile.programs.trace import as_dict

    data = {
        "version": 1,
        "command": list(command),
        "status": ended.status if ended.status >= 0 else None,
        "signal": signal_name(-ended.status) if ended.status < 0 else None,
        "seconds": round(ended.seconds, 3),
        "runtime": way.text,
        "preloaded": way.preload,
        "traced": traced,
        **as_dict(found),
        "libraries": [{"name": n, "found": there, "served": False} for n, there in way.others],
    }
    return json.dumps(data, indent=2) + "\n"
