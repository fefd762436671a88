"""From a build request to an executable: which kernels are migrated, and what is said about it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hipify_tile.build.plan import Built, Plan
from hipify_tile.build.program import build as build_program
from hipify_tile.cli import session
from hipify_tile.compat import library_path
from hipify_tile.diagnostics.model import Severity
from hipify_tile.diagnostics.render import concise
from hipify_tile.driver import analyze
from hipify_tile.project import discover, walk_files
from hipify_tile.report.model import KernelReport, Verdict
from hipify_tile.rewriter.model import Emission, Level, Target

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
    arch: str | None = None,
    kernels_only: bool = False,
) -> int:
    """Build and say what each kernel is; return the exit status. Raises UsageError.

    ``arch`` is a GPU's architecture (``sm_90``); None builds for the CPU. ``kernels_only`` leaves
    out the host side, which nvcc compiles.
    """
    runtime = _runtime() if arch is None else Path()
    if arch is not None:
        _check_gpu_build(out)
    session.require_paths(request)
    kernels = session.make_report(request).kernels if migrate else ()
    config = session.read_config(request.paths[0], request.config)
    project = discover(
        request.paths, config, database=request.database, clang_args=request.clang_args
    )
    chosen = {(path, k.mangled): k for k in kernels for path in k.units}
    analyses = [analyze(u) for u in project.units if u.language == "cuda"]
    if not analyses:
        raise session.UsageError("no CUDA source was found")
    plan = Plan(
        analyses=analyses,
        emissions={key: _emissions(kernel, arch) for key, kernel in chosen.items()},
        reasons={key: _reason(kernel, arch) for key, kernel in chosen.items()},
        output=out,
        folder=folder,
        runtime=runtime,
        host_sources=_host_sources(request.paths),
        flags=flags,
        kernels_only=kernels_only,
    )
    built = build_program(plan) if arch is None else _build_for_gpu(plan, arch)
    _say(built, quiet=request.quiet)
    if dep_file is not None and built.output is not None:
        read = dict.fromkeys(f for a in analyses for f in (a.unit.path, *a.user_files))
        names = [name.replace(" ", "\\ ") for name in (*read, *map(str, plan.host_sources))]
        with session.writing(dep_file):
            dep_file.write_text(f"{out}: " + " \\\n  ".join(names) + "\n", encoding="utf-8")
    return 0 if built.output is not None else 1


def default_arch() -> str:
    """Return the architecture of this machine's first GPU, ``sm_90`` where there is none."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    if shutil.which(query[0]) is None:
        return "sm_90"
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    capability = done.stdout.split("\n")[0].strip().replace(".", "")
    return f"sm_{capability}" if done.returncode == 0 and capability.isdigit() else "sm_90"


def _runtime() -> Path:
    if shutil.which("g++") is None:
        raise session.UsageError("g++ was not found; a build needs it")
    try:
        return library_path("cudart").parent
    except OSError as error:
        raise session.UsageError(f"the CUDA runtime library is missing: {error}") from error


def _check_gpu_build(out: Path) -> None:
    if shutil.which("nvcc") is None:
        raise session.UsageError("nvcc was not found; a build for a GPU needs it")
    if out.suffix == ".a":
        raise session.UsageError("a build for a GPU makes executables and shared libraries, no .a")


def _build_for_gpu(plan: Plan, arch: str) -> Built:
    from hipify_tile.build.gpu_program import Device
    from hipify_tile.build.gpu_program import build as build_gpu_program

    try:
        return build_gpu_program(plan, Device("nvcc", arch))
    except OSError as error:
        raise session.UsageError(str(error)) from error


def _emissions(kernel: KernelReport, arch: str | None) -> tuple[Emission, ...]:
    """The verified emissions that become object code."""
    if kernel.verdict is not Verdict.VERIFIED:
        return ()
    if arch is None:
        emission = kernel.emission
        usable = emission is not None and Target.CPU in emission.targets
        return (emission,) if emission is not None and usable else ()
    return tuple(
        item.emission
        for item in kernel.levels
        if item.verified
        and item.level is not Level.LOOP
        and item.emission is not None
        and Target.CUDA in item.emission.targets
    )


def _reason(kernel: KernelReport, arch: str | None) -> str:
    if _emissions(kernel, arch):
        return ""
    if arch is not None and kernel.verdict is Verdict.VERIFIED:
        return "verified at level loop only, at which a block is one thread of a GPU"
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
