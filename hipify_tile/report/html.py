"""``Report`` → one self-contained HTML page: inline CSS, SVG and script, no network.

The layout is in ``templates/``; this module only prepares what the template shows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import BaseLoader, Environment, Template
from markupsafe import Markup

from hipify_tile.diagnostics.model import Diagnostic, Effort, Severity
from hipify_tile.diagnostics.paths import relative_to
from hipify_tile.diagnostics.registry import REGISTRY
from hipify_tile.diagnostics.render import text as full_text
from hipify_tile.report import highlight
from hipify_tile.report.assemble import exit_code
from hipify_tile.report.model import KernelReport, Report, Verdict
from hipify_tile.report.terminal import exit_text, main_code, next_action, urgency
from hipify_tile.rewriter.model import Target

_MEANING = {
    Verdict.VERIFIED: "executed on generated inputs and equal to the original",
    Verdict.UNVERIFIED: "rewritten, not proven by execution",
    Verdict.KEPT: "stays CUDA",
    Verdict.UNPARSED: "could not be read",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the outcome bar, in percent of its width."""

    verdict: Verdict
    count: int
    start: float
    size: float
    meaning: str


def render(report: Report, base: str) -> str:
    """Return the page; paths are relative to ``base``."""
    return _template().render(
        report=report,
        style=Markup(_asset("style.css")),
        script=Markup(_asset("filter.js")),
        segments=segments(report),
        targets=list(Target),
        verdicts=list(Verdict),
        groups=_by_effort(report.findings),
        notes=[d for d in report.diagnostics if d.severity is Severity.NOTE],
        efforts=[(e.value, report.efforts()[e]) for e in Effort if report.efforts()[e]],
        libraries=_libraries(report),
        kernels=sorted(report.kernels, key=urgency),
        anchors={k.id: f"k{n}" for n, k in enumerate(report.kernels)},
        next_action=next_action(report),
        unresolved=sum(1 for x in report.launches if not x.resolved),
        path=lambda p: relative_to(p, base),
        excerpt=lambda d: full_text.render(d, base, width=100),
        cuda=highlight.cuda,
        python=highlight.python,
        title_of=_title,
        shown_codes=_shown_codes,
        exit_status=exit_code(report),
        exit_text=exit_text(report),
        registry=REGISTRY,
        launches_of=lambda k: [x for x in report.launches if x.kernel == k.name],
    )


def segments(report: Report) -> tuple[Segment, ...]:
    """Return the outcome bar's segments, in the order of the verdicts."""
    out = []
    start = 0.0
    for verdict in Verdict:
        count = report.count(verdict)
        size = 100.0 * count / len(report.kernels) if report.kernels else 0.0
        out.append(Segment(verdict, count, start, size, _MEANING[verdict]))
        start += size
    return tuple(out)


def _title(kernel: KernelReport) -> str:
    arguments = ", ".join(kernel.template_args)
    return f"{kernel.name}<{arguments}>" if arguments else kernel.name


def _shown_codes(kernel: KernelReport) -> list[Diagnostic]:
    """Errors and warnings, else the note that says why the kernel is not verified."""
    found = [d for d in kernel.diagnostics if d.severity is not Severity.NOTE]
    return found or [d for d in kernel.diagnostics if d.code == main_code(kernel)][:1]


def _by_effort(found: tuple[Diagnostic, ...]) -> list[tuple[str, list[Diagnostic]]]:
    order = (Effort.REWRITE, Effort.HOURS, Effort.MINUTES, Effort.NONE)
    groups = [(e.value, [d for d in found if d.effort is e]) for e in order]
    return [(name, rows) for name, rows in groups if rows]


def _libraries(report: Report) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for call in report.calls:
        counts[call.library] += call.count
    return sorted(counts.items())


@cache
def _template() -> Template:
    environment = Environment(
        loader=BaseLoader(), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("index.html.j2"))


def _asset(name: str) -> str:
    folder = files("hipify_tile.report").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")
