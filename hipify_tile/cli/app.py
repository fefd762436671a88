"""The command line's root: ``tile-migrate PATH…`` is ``tile-migrate migrate PATH…``.

Commands are thin: each module parses its options and calls the driver. Nothing heavy is imported
here, so that help is instant.
"""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hipify_tile import __version__
from hipify_tile.cli import (
    api,
    bisect,
    build,
    cmake_dir,
    config,
    doctor,
    explain,
    migrate,
    run,
    verify,
)
from hipify_tile.cli.refusal import refuse

_DEFAULT = "migrate"


class _NamelessContext(typer.Context):
    @property
    def command_path(self) -> str:
        """The program's name: the default command's own is never typed."""
        return self.parent.command_path if self.parent else super().command_path


class DefaultCommand(TyperCommand):
    """The command that needs no name; its messages show none."""

    context_class = _NamelessContext


class DefaultCommandGroup(TyperGroup):
    """Inserts ``migrate`` when the first word is no command; sets what is after ``--`` aside."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Split ``args`` at ``--`` and choose the command."""
        if "--" in args:
            at = args.index("--")
            args, ctx.obj = args[:at], tuple(args[at + 1 :])
        first = next((word for word in args if not word.startswith("-")), None)
        top = args and args[0] in ("--help", "-h", "--version")
        if args and not top and (first not in self.commands or args[0] != first):
            self._misspelled(args[0])
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def _misspelled(self, word: str) -> None:
        """Refuse a first word that is no path and nearly a command."""
        near = difflib.get_close_matches(word, [c for c in self.commands if c != _DEFAULT], 1, 0.75)
        if near and not word.startswith("-") and not Path(word).exists():
            refuse(f"{word}: no such command, file or folder; did you mean `{near[0]}`?")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the default command's help, then the other commands."""
        command = self.commands[_DEFAULT]
        with typer.Context(command, info_name=ctx.info_name) as inner:
            command.format_help(inner, formatter)
        rows = [
            (name, item.get_short_help_str(60))
            for name, item in self.commands.items()
            if name != _DEFAULT
        ]
        with formatter.section("Other commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    cls=DefaultCommandGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
app.command(_DEFAULT, cls=DefaultCommand)(migrate.migrate)
app.command("verify")(verify.verify)
app.command("build")(build.build)
app.command("run")(run.run)
app.command("bisect")(bisect.bisect)
app.command("explain")(explain.explain)
app.command("doctor")(doctor.doctor)
app.command("api")(api.api)
app.command("config")(config.config)
app.command("cmake-dir")(cmake_dir.cmake_dir)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"tile-migrate {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Move CUDA C++ to TileLang one kernel at a time, verified or refused."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; the exit status is 0, 1, 2 or 101."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a file's name need not be text
    app(list(sys.argv[1:] if argv is None else argv), prog_name="tile-migrate")
