"""``tile-migrate build PATH… -o APP``: an executable with kept and migrated kernels.

For the CPU by g++; with ``--target cuda`` for a GPU, by nvcc.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hipify_tile.cli import options as opt
from hipify_tile.cli.refusal import refuse

_PARSED = ("-I", "-D", "-U", "-std=", "-isystem", "-iquote", "-include")


class Mode(StrEnum):
    """Whether migrated kernels get object code."""

    MIGRATED = "migrated"
    KEPT = "kept"


class Machine(StrEnum):
    """What the executable runs on."""

    CPU = "cpu"
    CUDA = "cuda"


def _show(value: bool) -> None:
    if value:
        from hipify_tile.compat import library_path

        try:
            typer.echo(library_path("cudart").parent)
        except OSError as error:
            refuse(f"the CUDA runtime library is missing: {error}")
        raise typer.Exit


def build(
    ctx: typer.Context,
    paths: opt.Paths,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Executable, or a .so, .a or .o.", metavar="FILE")
    ] = Path("a.out"),
    mode: Annotated[Mode, typer.Option("--mode", help="Kernels to compile.")] = Mode.MIGRATED,
    machine: Annotated[
        Machine, typer.Option("--target", help="The CPU (g++), or a GPU (nvcc).")
    ] = Machine.CPU,
    arch: Annotated[
        str, typer.Option("--arch", help="GPU: sm_90 … [default: this one's]", metavar="SM")
    ] = "",
    kernels_only: Annotated[
        bool, typer.Option("--kernels-only", help="Leave out host code: nvcc compiles it.")
    ] = False,
    keep_dir: Annotated[
        Path | None, typer.Option("--keep-dir", help="Leave objects here.", metavar="DIR")
    ] = None,
    dep_file: Annotated[
        Path | None, typer.Option("--dep-file", help="Write a make rule.", metavar="FILE")
    ] = None,
    print_runtime: Annotated[
        bool,
        typer.Option(
            "--print-runtime", help="Print the runtime's folder.", callback=_show, is_eager=True
        ),
    ] = False,
    only: opt.Only = [],  # noqa: B006 (Typer copies it)
    keep: opt.Keep = [],  # noqa: B006
    jobs: opt.Jobs = 0,
    database: opt.Database = None,
    config: opt.ConfigFile = None,
    no_cache: opt.NoCache = False,
    seed: opt.Seed = None,
    quiet: opt.Quiet = False,
) -> None:
    """Build a CUDA program: kept kernels, and verified migrated ones beside.

    Arguments after -- go to g++ (with --target cuda: to nvcc).
    """
    from hipify_tile.cli import session
    from hipify_tile.cli.build_run import default_arch, execute
    from hipify_tile.driver import guarded

    flags: tuple[str, ...] = ctx.obj or ()
    request = session.Request.of(ctx, verify=mode is Mode.MIGRATED)
    request = replace(request, clang_args=parsed_flags(flags))

    if arch and machine is Machine.CPU:
        refuse("--arch goes with --target cuda")
    if kernels_only and machine is Machine.CUDA:
        refuse("--kernels-only is for the CPU: with --target cuda nvcc compiles the whole program")

    def run(folder: Path) -> int:
        migrate = mode is Mode.MIGRATED
        device = arch or default_arch() if machine is Machine.CUDA else None
        return execute(
            request,
            out,
            folder,
            flags,
            dep_file,
            migrate=migrate,
            arch=device,
            kernels_only=kernels_only,
        )

    try:
        if keep_dir is not None:
            status = guarded(lambda: run(keep_dir), session.UsageError)
        else:
            with tempfile.TemporaryDirectory(prefix="tile-migrate-") as scratch:
                status = guarded(lambda: run(Path(scratch)), session.UsageError)
    except session.UsageError as error:
        refuse(str(error))
    raise typer.Exit(status)


def parsed_flags(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return those g++ flags that decide what the sources mean."""
    kept: list[str] = []
    rest = list(flags)
    while rest:
        flag = rest.pop(0)
        if flag.startswith(_PARSED):
            kept.append(flag)
            if flag in _PARSED and rest:
                kept.append(rest.pop(0))
    return tuple(kept)
