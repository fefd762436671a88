"""``tile-migrate bisect -- ./app``: the migrated kernels that break a program."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hipify_tile.cli.refusal import refuse
from hipify_tile.cli.run import program_of

if TYPE_CHECKING:
    from hipify_tile.programs.search import Search, Step


class OutputFormat(StrEnum):
    """Formats of what is found."""

    TEXT = "text"
    JSON = "json"


_STATUS = {"passes": 0, "nothing-migrated": 0, "culprits": 1}
_SAID = {
    "passes": "the program passes with every kernel migrated: nothing to look for",
    "nothing-migrated": "no migrated kernel runs in this program: nothing to look for",
    "kept-fails": "the program fails with every kernel kept: the cause is not a migrated kernel",
    "unstable": "its output changes from run to run: judge it by --judge CMD",
    "not-the-kernels": "the failure does not come back with the same kernels: try --repeat 5",
}


def bisect(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(hidden=True, metavar="-- PROGRAM")] = None,
    compare_output: Annotated[
        bool, typer.Option("--compare-output", help="Standard output has to be the same too.")
    ] = False,
    judge: Annotated[
        str,
        typer.Option("--judge", help="Command that passes a run, given its output.", metavar="CMD"),
    ] = "",
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            help="Time limit of a run; 0: by the kept run.",
            min=0,
            metavar="SECONDS",
            show_default=False,
        ),
    ] = 0.0,
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat",
            help="Runs of each choice; one that fails decides.",
            min=1,
            metavar="N",
            show_default=False,
        ),
    ] = 1,
    format: Annotated[
        OutputFormat, typer.Option("--format", help="Format of the result.")
    ] = OutputFormat.TEXT,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Do not list the runs.")] = False,
) -> None:
    """Name the migrated kernels that break a program: -- ./app ARGUMENTS.

    Exits with 1 if it names some, with 0 if none breaks the program.
    """
    from hipify_tile.compat import library_path
    from hipify_tile.programs import preload, process
    from hipify_tile.programs.judging import Judge
    from hipify_tile.programs.search import Bisector

    command = program_of(ctx, words, "bisect")
    stream = sys.stderr if format is OutputFormat.JSON else sys.stdout

    def tell(step: Step) -> None:
        if not quiet:
            stream.write(_line(step))
            stream.flush()

    with tempfile.TemporaryDirectory(prefix="tile-migrate-") as name:
        scratch = Path(name)
        try:
            file = process.find_program(command)
            way = preload.choose(file, os.environ)
            if way.warning:
                refuse(way.warning)
            bisector = Bisector(
                command,
                preload.apply(way, os.environ, library_path("cudart"), (), scratch),
                scratch,
                judge=Judge(judge, timeout=timeout),
                compare_output=compare_output,
                timeout=timeout,
                repeat=repeat,
                manifest=_manifest(file),
                told=tell,
            )
            search = bisector.search()
        except (process.CannotRunError, OSError) as error:
            refuse(str(error))
    text = _json(command, search) if format is OutputFormat.JSON else _text(search)
    sys.stdout.write(text)
    raise typer.Exit(_STATUS.get(search.found.value, 2))


def _manifest(program: Path) -> frozenset[str]:
    """Mangled names of the migrated kernels that a build listed beside the program."""
    try:
        data = json.loads(Path(f"{program}.kernels.json").read_text(encoding="utf-8"))
        return frozenset(k["mangled"] for k in data["kernels"] if k["state"] == "migrated")
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()


def _line(step: Step) -> str:
    names = step.label or ", ".join(k.name for k in step.kernels)
    names = names if len(names) <= 44 else f"{names[:34]}… ({len(step.kernels)})"
    outcome = f"fail  {step.failure}" if step.failure else "pass"
    return f"{names:<44}  {step.seconds:6.1f} s  {outcome}\n"


def _text(search: Search) -> str:
    from hipify_tile.programs.results import describe

    if not search.culprits:
        return f"{_SAID[search.found.value]}\n"
    lines = []
    for culprit in search.culprits:
        names = [f"{k.name}{f' ({k.kinds[0]})' if k.kinds else ''}" for k in culprit.kernels]
        together = "together " if len(names) > 1 else ""
        breaks = "break" if len(names) > 1 else "breaks"
        lines.append(f"{' and '.join(names)} {together}{breaks} the program: {culprit.failure}")
        checks = dict(culprit.checks)
        for kernel in culprit.kernels:
            event = checks.get(kernel.mangled)
            label = f"{kernel.name}, " if len(names) > 1 else ""
            lines.append(
                f"  {label}{describe(event)}"
                if event
                else f"  {label}mode check finds no launch of it that differs"
            )
    bad = {k.mangled for c in search.culprits for k in c.kernels}
    rest = len(search.kernels) - len(bad)
    if rest:
        lines.append(
            f"with {'it' if len(bad) == 1 else 'them'} kept and {rest} migrated, it passes"
        )
    kept = ",".join(f"{k.name}=kept" for c in search.culprits for k in c.kernels)
    lines.append(f"until it is right: TILE_MIGRATE_KERNELS='{kept}'")
    return "\n".join(lines) + "\n"


def _json(command: tuple[str, ...], search: Search) -> str:
    def rows(kernels: Any) -> list[dict[str, Any]]:
        return [{"kernel": k.name, "mangled": k.mangled, "kinds": list(k.kinds)} for k in kernels]

    data = {
        "version": 1,
        "command": list(command),
        "found": search.found.value,
        "culprits": [
            {"kernels": rows(c.kernels), "failure": c.failure, "checks": [e for _, e in c.checks]}
            for c in search.culprits
        ],
        "kernels": rows(search.kernels),
        "runs": [
            {
                "label": s.label,
                "migrated": [k.mangled for k in s.kernels],
                "passed": not s.failure,
                "failure": s.failure,
                "seconds": round(s.seconds, 3),
            }
            for s in search.steps
        ],
    }
    return json.dumps(data, indent=2) + "\n"
