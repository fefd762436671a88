"""``tile-migrate PATH…``: analyse, report, and with ``-o`` migrate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hipify_tile.cli import options as opt
from hipify_tile.cli.refusal import refuse


def migrate(
    ctx: typer.Context,
    paths: opt.Paths,
    report: Annotated[
        bool, typer.Option("--report", help="Write HTML, JSON and SARIF; print a summary.")
    ] = False,
    report_dir: Annotated[
        Path, typer.Option("--report-dir", help="Folder for --report.", metavar="DIR")
    ] = Path("tile-report"),
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Write TileLang sources here.", metavar="DIR"),
    ] = None,
    verify: Annotated[
        bool | None,
        typer.Option("--verify/--no-verify", help="Execute every kernel, old against new."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be written; write nothing.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what would be written as a unified diff.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if anything would be written.")
    ] = False,
    only: opt.Only = [],  # noqa: B006 (Typer copies it)
    keep: opt.Keep = [],  # noqa: B006
    level: opt.Level = None,
    target: opt.Target = None,
    format: opt.OutputFormat = opt.Format.TEXT,
    output_file: opt.OutputFile = None,
    jobs: opt.Jobs = 0,
    database: opt.Database = None,
    config: opt.ConfigFile = None,
    no_cache: opt.NoCache = False,
    seed: opt.Seed = None,
    baseline: opt.BaselineFile = None,
    results: opt.Results = [],  # noqa: B006
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Rewrite host code in the sources (git guards).")
    ] = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = 0,
) -> None:
    """Move CUDA C++ to TileLang one kernel at a time, verified or refused.

    Reads the sources; only --in-place writes them. Arguments after -- go to the C++ front end.
    """
    from hipify_tile.cli import migrate_run, session
    from hipify_tile.driver import guarded

    writes = out is not None or dry_run or diff or check
    request = session.Request.of(ctx, verify=writes if verify is None else verify)
    plan = migrate_run.Plan(
        out=out,
        writes=writes,
        dry_run=dry_run,
        diff=diff,
        check=check,
        unverified=verify is False,
        report_dir=report_dir if report else None,
        format=format,
        output_file=output_file,
        quiet=quiet,
        verbose=verbose,
    )
    try:
        if in_place:
            status = guarded(lambda: migrate_run.rewrite_in_place(request), session.UsageError)
        else:
            status = guarded(lambda: migrate_run.execute(request, plan), session.UsageError)
    except session.UsageError as error:
        refuse(str(error))
    raise typer.Exit(status)
