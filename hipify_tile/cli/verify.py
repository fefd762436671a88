"""``tile-migrate verify PATH…``: execute every kernel, old against new, and write nothing."""

from __future__ import annotations

import typer

from hipify_tile.cli import options as opt
from hipify_tile.cli.refusal import refuse


def verify(
    ctx: typer.Context,
    paths: opt.Paths,
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
    save_failures: opt.SaveFailures = None,
    results: opt.Results = [],  # noqa: B006
    replay: opt.Replay = None,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = 0,
) -> None:
    """Execute every kernel, old against new."""
    from hipify_tile.cli import migrate_run, session
    from hipify_tile.driver import guarded

    request = session.Request.of(ctx, verify=True)
    plan = migrate_run.Plan(format=format, output_file=output_file, quiet=quiet, verbose=verbose)
    try:
        status = guarded(lambda: migrate_run.execute(request, plan), session.UsageError)
    except session.UsageError as error:
        refuse(str(error))
    raise typer.Exit(status)
