"""From a build request to an executable: which kernels are migrated, and what is said about it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from hipify_tile.build.program import Built, Plan
from hipify_tile.build.program import build as build_program
from hipify_tile.cli import session
from hipify_tile.compat import library_path
from hipify_tile.diagnostics.model import Severity
from hipify_tile.diagnostics.render import concise
from hipify_tile.driver import analyze
from hipify_tile.project import discover, walk_files
from hipify_tile.report.model import KernelReport, Verdict
from hipify_tile.rewriter.model import Emission, Target

_HOST = (".c", ".cc", ".cpp", ".cxx")
_CUDA = (".cu.cc", ".cu.cpp", ".cu.cxx")


def execute(
    request: session.Request,
    out: Path,
    folder: Path,
    flags: tuple[str, ...],
    dep_file: Path | None = None,
    *,
    migrate: bool,
) -> int:
    """Build and say what each kernel is; return the exit status. Raises UsageError."""
    if shutil.which("g++") is None:
        raise session.UsageError("g++ was not found; a build needs it")
    try:
        runtime = library_path("cudart").parent
    except OSError as error:
        raise session.UsageError(f"the CUDA runtime library is missing: {error}") from error
    report = session.make_report(request)
    config = session.read_config(request.paths[0], request.config)
    project = discover(
        request.paths, config, database=request.database, clang_args=request.clang_args
    )
    chosen = {k.id: k for k in report.kernels} if migrate else {}
    analyses = [analyze(u) for u in project.units if u.language == "cuda"]
    if not analyses:
        raise session.UsageError("no CUDA source was found")
    plan = Plan(
        analyses=analyses,
        emissions={key: _emissions(kernel) for key, kernel in chosen.items()},
        reasons={key: _reason(kernel) for key, kernel in chosen.items()},
        output=out,
        folder=folder,
        runtime=runtime,
        host_sources=_host_sources(request.paths),
        flags=flags,
    )
    built = build_program(plan)
    _say(built, quiet=request.quiet)
    if dep_file is not None and built.output is not None:
        read = dict.fromkeys(f for a in analyses for f in (a.unit.path, *a.user_files))
        names = [name.replace(" ", "\\ ") for name in (*read, *map(str, plan.host_sources))]
        with session.writing(dep_file):
            dep_file.write_text(f"{out}: " + " \\\n  ".join(names) + "\n", encoding="utf-8")
    return 0 if built.output is not None else 1


def _emissions(kernel: KernelReport) -> tuple[Emission, ...]:
    emission = kernel.emission
    usable = kernel.verdict is Verdict.VERIFIED and emission is not None
    if not usable or emission is None or Target.CPU not in emission.targets:
        return ()
    return (emission,)


def _reason(kernel: KernelReport) -> str:
    if _emissions(kernel):
        return ""
    errors = [d for d in kernel.diagnostics if d.severity is not Severity.NOTE]
    named = errors or list(kernel.diagnostics)
    return f"{named[0].code} {named[0].headline}" if named else str(kernel.verdict.value)


def _host_sources(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    found: dict[Path, None] = {}
    for path in paths:
        for file in walk_files(path) if path.is_dir() else (path,):
            if file.suffix in _HOST and not file.name.endswith(_CUDA):
                found[Path(os.path.abspath(file))] = None
    return tuple(found)


def _say(built: Built, *, quiet: bool) -> None:
    here = os.getcwd()
    for finding in built.diagnostics:
        if finding.severity is not Severity.NOTE or not quiet:
            sys.stderr.write(concise.render(finding, here) + "\n")
            sys.stderr.writelines(f"  {note}\n" for note in finding.notes)
    if quiet:
        return
    for kernel in built.kernels:
        state = f"{'+'.join((*kernel.levels, 'kept'))}"
        sys.stdout.write(f"{kernel.id}: {state}{f'  ({kernel.reason})' if kernel.reason else ''}\n")
    if built.output is not None:
        migrated = sum(1 for k in built.kernels if k.levels)
        sys.stdout.write(f"{built.output}: {migrated} of {len(built.kernels)} kernels migrated\n")
