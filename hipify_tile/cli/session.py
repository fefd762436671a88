"""What ``migrate`` and ``verify`` have in common: from options to a ``Report`` and its output."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

import typer
from rich.console import Console

from hipify_tile import __version__
from hipify_tile.cache import Cache, default_directory, tool_fingerprint
from hipify_tile.cli import progress
from hipify_tile.cli.options import Format
from hipify_tile.config import Config, load
from hipify_tile.diagnostics import suppress
from hipify_tile.diagnostics.model import Diagnostic, Severity
from hipify_tile.diagnostics.paths import base_directory
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.diagnostics.render import concise, github, sarif
from hipify_tile.driver import Options, Stages, run_project, unmatched, verify
from hipify_tile.programs.evidence import merged
from hipify_tile.project import Project, discover
from hipify_tile.report import json as json_report
from hipify_tile.report.assemble import assemble
from hipify_tile.report.model import KernelReport, Report, Tool, UnitReport
from hipify_tile.report.programs import with_evidence
from hipify_tile.rewriter.model import Level, Target


class UsageError(Exception):
    """The command line or configuration is not valid; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a run as given; None or empty means "as configured".

    Fields are named as the parameters of the commands that share them.
    """

    paths: tuple[Path, ...]
    verify: bool = False
    only: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    level: str | None = None
    target: str | None = None
    jobs: int = 0
    seed: int | None = None
    database: Path | None = None
    config: Path | None = None
    no_cache: bool = False
    quiet: bool = False
    baseline: Path | None = None
    clang_args: tuple[str, ...] = ()
    skip: tuple[Path, ...] = ()
    save_failures: Path | None = None
    results: tuple[Path, ...] = ()
    replay: Path | None = None

    @classmethod
    def of(cls, context: typer.Context, *, verify: bool) -> Request:
        """Return the request that a command's parsed options make."""
        names = {f.name for f in fields(cls)} - {"verify"}
        given = {k: v for k, v in context.params.items() if k in names}
        lists = {k: tuple(v) for k, v in given.items() if isinstance(v, list)}
        return cls(**{**given, **lists}, verify=verify, clang_args=context.obj or ())


def make_report(request: Request, stages: Stages | None = None) -> Report:
    """Discover, process and assemble; raises UsageError for what the user has to correct."""
    started = time.perf_counter()
    require_paths(request)
    config = read_config(request.paths[0], request.config)
    baseline = _baseline(request.baseline)
    options = _options(request, config)
    settings = replace(config, exclude=(*config.exclude, *_skipped(request, config)))
    project = discover(
        request.paths, settings, database=request.database, clang_args=request.clang_args
    )
    label = "verify" if request.verify else "analyse"
    total = len(project.units)
    with progress.bar(quiet=request.quiet, label=label, total=total) as shown:
        units = run_project(project, options, stages or _stages(request), shown)
    findings = (*project.diagnostics, *_unmatched(request, config, units))
    report = _assembled(request, project, units, options.seed, findings)
    if request.results or request.replay is not None:
        units, found = _with_programs(request, project, units, report.kernels)
        report = _assembled(request, project, units, options.seed, (*findings, *found))
    outcome = suppress.apply(
        report.diagnostics,
        base=base_directory(report.root),
        files=[path for unit in units for path in unit.user_files],
        ignored=config.ignored_codes,
        baseline=baseline,
        executed=request.verify,
    )
    seconds = time.perf_counter() - started
    return replace(report, diagnostics=outcome.shown, suppressed=outcome.hidden, seconds=seconds)


def _assembled(
    request: Request,
    project: Project,
    units: Sequence[UnitReport],
    seed: int,
    findings: Sequence[Diagnostic],
) -> Report:
    return assemble(
        units,
        tool=tool(),
        root=" ".join(str(p) for p in request.paths)
        if len(request.paths) == 1
        else os.path.relpath(project.root),
        command=_command(),
        extra=findings,
        verify_requested=request.verify,
        environment=(("python", sys.version.split()[0]), ("seed", str(seed))),
    )


def _with_programs(
    request: Request,
    project: Project,
    units: Sequence[UnitReport],
    kernels: Sequence[KernelReport],
) -> tuple[tuple[UnitReport, ...], tuple[Diagnostic, ...]]:
    """Add what launches of whole programs say to ``units``; raises UsageError."""
    from hipify_tile.cli import evidence_run

    found: tuple[Diagnostic, ...] = ()
    try:
        evidence = [evidence_run.of_results(request.results, kernels)]
        if request.replay is not None:
            replayed, found = evidence_run.of_replay(request.replay, project, kernels)
            evidence.append(replayed)
    except evidence_run.NoEvidenceError as error:
        raise UsageError(str(error)) from error
    return with_evidence(units, merged(evidence)), found


def require_paths(request: Request) -> None:
    """Raise UsageError where a path is not there."""
    for path in request.paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")


def _unmatched(
    request: Request, config: Config, units: Sequence[UnitReport]
) -> Iterator[Diagnostic]:
    """TM0013 for patterns that match nothing; UsageError for one of ``--only``.

    A setting may be meant for files that this run does not read: then it is only a note.
    """
    names = sorted({k.name for unit in units for k in unit.kernels})
    sources = (
        ("--only", request.only, Severity.ERROR),
        ("--keep", request.keep, Severity.WARNING),
        ("only", () if request.only else config.only, Severity.NOTE),
        ("keep", config.keep, Severity.NOTE),
    )
    for origin, patterns, severity in sources:
        for pattern in unmatched(patterns, units):
            headline = f"{origin} {pattern} matches no kernel"
            near = difflib.get_close_matches(pattern, names, 3, 0.5)
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            known = (
                f"kernels here: {', '.join(names[:5])}{more}" if names else "no kernel was found"
            )
            known = f"the nearest: {', '.join(near)}" if near else known
            if severity is Severity.ERROR and names:
                raise UsageError(f"[TM0013] {headline}; {known}")
            yield diagnostic(
                "TM0013",
                headline=headline,
                severity=Severity.NOTE if severity is Severity.NOTE else Severity.WARNING,
                notes=(known,),
                help="correct the pattern, or take it away",
            )


def read_config(near: Path, explicit: Path | None) -> Config:
    """Return the configuration; raises UsageError with every problem found in it."""
    if explicit is not None and not explicit.is_file():
        raise UsageError(f"{explicit}: no such file")
    config, problems = load(near if near.is_dir() else near.parent, explicit)
    if problems:
        raise UsageError("\n".join(_problem(d) for d in problems))
    return config


def configured_out(request: Request) -> Path:
    """Return the folder of the output tree where the command line names none."""
    config = read_config(request.paths[0], request.config)
    return Path(config.root, config.out) if config.file else Path(config.out)


def tool() -> Tool:
    """Return the versions that results depend on."""
    return Tool("tile-migrate", __version__, _version("tilelang"), _version("libclang"))


def render(report: Report, format: Format) -> str:
    """Return ``report`` in a format that is text of its own (all but ``text``)."""
    base, here = base_directory(report.root), shown_base(report)
    match format:
        case Format.JSON:
            return json_report.render(report)
        case Format.SARIF:
            return sarif.render(report.diagnostics, here, version=__version__)
        case Format.GITHUB:
            return _lines(github.render(d, here) for d in report.diagnostics)
        case Format.CONCISE:
            return _lines(concise.render(d, here) for d in report.findings)
        case Format.HTML:
            from hipify_tile.report import html

            return html.render(report, base)
        case Format.TEXT:
            raise ValueError("text is printed, not rendered")


def shown_base(report: Report) -> str:
    """Return the folder that shown paths are relative to: where the user is, or the root."""
    base = base_directory(report.root)
    return os.getcwd() if Path(base).resolve().is_relative_to(Path.cwd()) else base


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a file system's refusal to write ``path`` into a ``UsageError``."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def show(
    report: Report,
    format: Format,
    output_file: Path | None,
    *,
    verbose: int = 0,
    excerpts: bool = False,
    closing: Sequence[tuple[str, str]] = (),
) -> None:
    """Write the report to standard output or ``output_file``; raises UsageError."""
    if output_file:
        with writing(output_file):
            output_file.touch()
    if format is Format.TEXT:
        from hipify_tile.report.terminal import print_report

        stream = output_file.open("w", encoding="utf-8", errors="replace") if output_file else None
        console = Console(
            file=stream, width=None if sys.stdout.isatty() and not stream else 80, highlight=False
        )
        print_report(
            report,
            console,
            base=shown_base(report),
            verbose=verbose,
            excerpts=excerpts,
            closing=closing,
        )
        if stream:
            stream.close()
    elif output_file:
        output_file.write_text(render(report, format), encoding="utf-8", errors="replace")
    else:
        sys.stdout.write(render(report, format))


def write_reports(report: Report, folder: Path) -> str:
    """Write HTML, JSON and SARIF into ``folder``; return a line that names them.

    Raises UsageError where that is not possible.
    """
    names = {"index.html": Format.HTML, "report.json": Format.JSON, "report.sarif": Format.SARIF}
    texts = {name: render(report, format) for name, format in names.items()}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            temporary = folder / f".{name}.new"
            temporary.write_text(text, encoding="utf-8", errors="replace")
            os.replace(temporary, folder / name)
    return f"{folder}/index.html  report.json  report.sarif"


def _compiler() -> str:
    """Return the C++ compiler's version text: a verdict holds for the compiler that made it."""
    found = shutil.which("g++")
    if found is None:
        return ""
    return subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout


def _options(request: Request, config: Config) -> Options:
    target = request.target or config.target
    cache = None
    if not request.no_cache and request.save_failures is None:
        directory = Path(config.root, config.cache_dir) if config.cache_dir else default_directory()
        versions = (__version__, _version("tilelang"), _version("libclang"), _compiler())
        cache = Cache(directory, tool_fingerprint(versions))
    return Options(
        verify=request.verify,
        seed=config.seed if request.seed is None else request.seed,
        jobs=request.jobs or config.jobs or len(os.sched_getaffinity(0)),
        only=request.only or config.only,
        keep=(*config.keep, *request.keep),
        level=Level(request.level) if request.level else None,
        target=Target(target) if target else None,
        limits=config.verify,
        cache=cache,
    )


def _stages(request: Request) -> Stages:
    if request.save_failures is None:
        return Stages()
    folder = request.save_failures.resolve()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return Stages(verify=partial(verify, save_failures=folder))


def _skipped(request: Request, config: Config) -> tuple[str, ...]:
    root = Path(config.root).resolve()
    resolved = [path.resolve() for path in request.skip]
    return tuple(
        p.relative_to(root).as_posix() for p in resolved if p.is_relative_to(root) and p != root
    )


def _baseline(path: Path | None) -> suppress.Baseline | None:
    if path is None:
        return None
    try:
        return suppress.Baseline.read(path)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _problem(d: Diagnostic) -> str:
    detail = "; ".join((*d.notes, *((d.help,) if d.help else ())))
    return f"{concise.render(d, os.getcwd())}{f' ({detail})' if detail else ''}"


def _command() -> tuple[str, ...]:
    return ("tile-migrate", *sys.argv[1:])


def _version(package: str) -> str:
    try:
        return installed(package)
    except PackageNotFoundError:
        return "missing"


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)
