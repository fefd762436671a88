"""From a request to what the user sees: the report, the output tree, the exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hipify_tile import output
from hipify_tile.cli import session
from hipify_tile.cli.options import Format
from hipify_tile.diagnostics.render import concise
from hipify_tile.driver import Stages, analyze
from hipify_tile.project import discover
from hipify_tile.report.assemble import exit_code, exit_reasons
from hipify_tile.report.model import KernelReport, Report, Verdict
from hipify_tile.report.terminal import exit_text


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with the report. ``writes`` means that an output tree is concerned."""

    out: Path | None = None
    writes: bool = False
    dry_run: bool = False
    diff: bool = False
    check: bool = False
    unverified: bool = False
    report_dir: Path | None = None
    format: Format = Format.TEXT
    output_file: Path | None = None
    quiet: bool = False
    verbose: int = 0


def execute(request: session.Request, plan: Plan, stages: Stages | None = None) -> int:
    """Run ``request``, show and write as planned, and return the exit status."""
    out = plan.out or session.configured_out(request)
    skip = tuple(p for p in (out if plan.writes else None, plan.report_dir) if p is not None)
    report = session.make_report(replace(request, skip=skip), stages)
    closing: list[tuple[str, str]] = []
    if plan.writes:
        files = output.plan(report, compose, out, unverified=plan.unverified)
        if not (plan.diff or plan.check or plan.dry_run):
            _refuse_loss(files, out, partial=bool(request.only))
        changed = _apply(files, out, plan, closing)
        report = replace(report, outdated=changed if plan.check else None)
    if plan.report_dir is not None:
        closing.append(("report", session.write_reports(report, plan.report_dir)))
    status = exit_code(report)
    if plan.diff and plan.format is Format.TEXT and plan.output_file is None:
        _say_why(report, seen=False)
        return status
    if plan.quiet and plan.format is Format.TEXT:
        sys.stdout.write(session.render(report, Format.CONCISE))
        _say_why(report)
        return status
    session.show(
        report,
        plan.format,
        plan.output_file,
        verbose=plan.verbose,
        excerpts=plan.report_dir is None,
        closing=closing,
    )
    if plan.format is not Format.TEXT:
        _say_why(report)
    return status


def rewrite_in_place(request: session.Request) -> int:
    """Rewrite host code in the sources themselves; return the exit status. Raises UsageError."""
    from hipify_tile.build import in_place
    from hipify_tile.rewriter.emit.host import rewrite_host

    for path in request.paths:
        if not path.exists():
            raise session.UsageError(f"{path}: no such file or folder")
    config = session.read_config(request.paths[0], request.config)
    project = discover(
        request.paths, config, database=request.database, clang_args=request.clang_args
    )
    analyses = [analyze(unit) for unit in project.units if unit.language == "cuda"]
    sources = {f: Path(f).read_bytes() for a in analyses for f in a.user_files}
    rewritten = rewrite_host(analyses, sources, line_of=False)
    problems = rewritten.diagnostics or in_place.guard(Path(f) for f in rewritten.files)
    for finding in problems:
        sys.stderr.write(concise.render(finding, os.getcwd()) + "\n")
        sys.stderr.writelines(f"  {note}\n" for note in (*finding.notes, finding.help) if note)
    if problems:
        return 1
    for name in in_place.write(rewritten):
        sys.stdout.write(f"rewrote {os.path.relpath(name)}\n")
    if not rewritten.files:
        sys.stdout.write("nothing to rewrite\n")
    return 0


def _say_why(report: Report, *, seen: bool = True) -> None:
    """Say on stderr why the exit status is not 0; ``seen`` says that the findings were listed."""
    if not seen or set(exit_reasons(report)) - {"findings"}:
        text = exit_text(report)
        if text:
            sys.stderr.write(f"exit {exit_code(report)}: {text}\n")


def compose(source: str, kernels: Sequence[KernelReport]) -> tuple[str, dict[str, str]]:
    """Return the module text for the kernels of one source file, and their factories' names."""
    from hipify_tile.rewriter.emit.module import Member, compose_module, factory_names

    members = [
        Member(k.id, k.emission, k.template_args, _remark(k))
        for k in kernels
        if k.emission is not None
    ]
    return compose_module(source, members), factory_names(members)


def _remark(kernel: KernelReport) -> str:
    if kernel.verdict is Verdict.VERIFIED:
        return ""
    codes = ", ".join(d.code for d in kernel.diagnostics if d.code.startswith("TM5"))
    return f"NOT VERIFIED ({codes or 'not executed'}): compare with the original before use."


def _apply(files: dict[str, bytes], out: Path, plan: Plan, closing: list[tuple[str, str]]) -> int:
    """Write, or show what writing would do; return how many files differ."""
    shown = _shown(out)
    changes = output.compare(files, out)
    count = sum(map(len, (changes.create, changes.update, changes.delete, changes.foreign)))
    if changes.foreign and not (plan.diff or plan.check or plan.dry_run):
        refused = output.OutputRefused(out, changes.foreign)
        raise session.UsageError(f"{refused}; move them away or choose another folder")
    if plan.diff:
        sys.stdout.write(output.diff(files, out, shown))
    if plan.dry_run:
        listed = [f"{'update' if p in changes.update else 'create'} {shown}/{p}"
                  for p in (*changes.create, *changes.update)]  # fmt: skip
        listed += [f"delete {shown}/{p}" for p in changes.delete]
        listed += [f"refuse {shown}/{p} (not written by tile-migrate)" for p in changes.foreign]
        closing.append(("would", "\n".join(listed) or f"change nothing in {shown}/"))
    if plan.check:
        differ = (
            f"{count} {'file' if count == 1 else 'files'} would change in {shown}/ (-o {shown})"
        )
        closing.append(("check", differ if count else f"{shown}/ is up to date"))
        return count
    if plan.out is not None and not (plan.dry_run or plan.diff):
        with session.writing(out):
            output.write(files, out)
        written = len(changes.create) + len(changes.update)
        what = f"{written} of {len(files)} files to {shown}/" if changes else "nothing new"
        closing.append(("wrote", f"{what} (sources unchanged)"))
    return count


def _refuse_loss(files: dict[str, bytes], out: Path, *, partial: bool) -> None:
    lost = output.forgotten(files, out, partial=partial)
    if lost:
        shown = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
        raise session.UsageError(
            f"{_shown(out)} holds kernels that this run did not judge: {shown}; "
            "migrate the whole tree again, or write to another folder"
        )


def _shown(out: Path) -> str:
    relative = os.path.relpath(out)
    return out.as_posix() if relative.startswith("..") else Path(relative).as_posix()
