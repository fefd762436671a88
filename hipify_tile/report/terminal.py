"""``Report`` → the terminal: problems first, sums that add up, the next action last.

Reads well at 80 columns, without colour and without a terminal. Files outside ``base`` show whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hipify_tile.diagnostics.model import Diagnostic, Effort, Severity
from hipify_tile.diagnostics.paths import relative_to
from hipify_tile.diagnostics.render import concise
from hipify_tile.diagnostics.render import text as full_text
from hipify_tile.report.assemble import exit_code, exit_reasons
from hipify_tile.report.model import KernelReport, Report, Verdict

_STYLE = {
    Verdict.VERIFIED: "green",
    Verdict.UNVERIFIED: "yellow",
    Verdict.KEPT: "magenta",
    Verdict.UNPARSED: "red",
}
_WORDS = {
    Verdict.VERIFIED: "verified",
    Verdict.UNVERIFIED: "unverified",
    Verdict.KEPT: "kept CUDA",
    Verdict.UNPARSED: "unparsed",
}
_URGENCY = (Verdict.UNPARSED, Verdict.KEPT, Verdict.UNVERIFIED, Verdict.VERIFIED)
_SEVERITY_STYLE = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_NOTES = ("TM0010", "TM0014", "TM2401", "TM5008")
"""Notes that say why a kernel is not verified, before others."""
_SHOWN = 12
"""Rows of kernels without problems, and findings, that are listed unless ``verbose``."""


def print_report(
    report: Report,
    console: Console,
    *,
    base: str,
    verbose: int = 0,
    excerpts: bool = False,
    closing: Sequence[tuple[str, str]] = (),
) -> None:
    """Print ``report``; ``closing`` are further (title, text) lines, such as what was written.

    ``excerpts`` shows findings with their source; else they take a line each.
    """
    _print_head(report, console)
    if report.kernels:
        _print_kernels(report.kernels, console, base, verbose)
    if report.calls:
        _print_calls(report, console)
    _print_findings(report, console, base, verbose, excerpts)
    _print_sums(report, console, closing)


def _print_head(report: Report, console: Console) -> None:
    tool = report.tool
    versions = f"{tool.name} {tool.version} · tilelang {tool.tilelang} · libclang {tool.libclang}"
    files = f"{report.root} ({_count(len(report.files), 'file')})"
    line = f"{versions} · {files}"
    console.print(Text(line if len(line) <= console.width else f"{versions}\n{files}"))
    console.print()


def _print_kernels(
    kernels: Sequence[KernelReport], console: Console, base: str, verbose: int
) -> None:
    ordered = sorted(kernels, key=urgency)
    calm = [k for k in ordered if not _needs_a_look(k)]
    hidden = calm[_SHOWN:] if not verbose else []
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    room = console.width - 37
    shown = [k for k in ordered if k not in hidden]
    longest = max((len(_display_name(k)) for k in shown), default=0)
    sources = [f"{relative_to(k.file, base)}:{k.line}" for k in shown]
    unused = room - 1 - max(map(len, sources), default=0)
    names = min(max(longest, len("kernel")), max(room // 2 + 1, unused, 12), room - 8)
    labels = _labels(shown, names)
    table.add_column("kernel", width=names, overflow="fold")
    table.add_column("source", width=room - names, no_wrap=True)
    table.add_column("level", width=5, no_wrap=True)
    table.add_column("outcome", width=12, no_wrap=True)
    table.add_column("max error", width=9, no_wrap=True, justify="right")
    table.add_column("note", width=6, no_wrap=True)
    for k, label, source in zip(shown, labels, sources, strict=True):
        table.add_row(
            Text(label),
            _tail(source, room - names),
            k.level.value if k.level else "-",
            Text(_WORDS[k.verdict], style=_STYLE[k.verdict]),
            _error(k),
            main_code(k),
        )
    console.print(table)
    if hidden:
        counts = Counter(_WORDS[k.verdict] for k in hidden)
        what = ", ".join(f"{n} {word}" for word, n in counts.items())
        console.print(Text(f"  {len(hidden)} more kernels: {what} (-v lists them)"))
    console.print()


def _print_calls(report: Report, console: Console) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("library", no_wrap=True)
    table.add_column("calls", justify="right")
    table.add_column("functions", justify="right")
    table.add_column("most used", no_wrap=True, overflow="ellipsis")
    for library in dict.fromkeys(c.library for c in report.calls):
        rows = [c for c in report.calls if c.library == library]
        top = sorted(rows, key=lambda c: (-c.count, c.api))[:3]
        table.add_row(
            library,
            str(sum(c.count for c in rows)),
            str(len(rows)),
            ", ".join(c.api for c in top),
        )
    console.print(table)
    console.print()


def _print_findings(
    report: Report, console: Console, base: str, verbose: int, excerpts: bool
) -> None:
    shown = report.diagnostics if verbose else report.findings
    if excerpts:
        for d in shown:
            _print_excerpt(d, console, base)
            console.print()
        return
    rows = _one_per_code_and_place(shown)
    listed = rows if verbose else rows[: 2 * _SHOWN]
    width = min(max((len(concise.place(d, base)) for d in listed), default=0), 34)
    for d in listed:
        line = Text(f"{_tail(concise.place(d, base), width):<{width}}  ")
        line.append(f"{d.severity.value}[{d.code}]".ljust(16), _SEVERITY_STYLE[d.severity])
        line.append(f" {d.headline}")
        line.truncate(console.width, overflow="ellipsis")
        console.print(line)
    if len(rows) > len(listed):
        console.print(Text(f"  {len(rows) - len(listed)} more findings (-v lists them)"))
    if listed:
        console.print()


def _print_excerpt(d: Diagnostic, console: Console, base: str) -> None:
    lines = full_text.render(d, base, width=min(console.width, 100)).split("\n")
    head = Text(lines[0])
    head.stylize(f"bold {_SEVERITY_STYLE[d.severity]}", 0, len(f"{d.severity.value}[{d.code}]"))
    console.print(head, soft_wrap=True)
    for line in lines[1:]:
        console.print(Text(line), soft_wrap=True)


def _print_sums(report: Report, console: Console, closing: Sequence[tuple[str, str]]) -> None:
    parts = [f"{report.count(v)} {v.value}" for v in Verdict]
    rows = [("kernels", f"{' · '.join(parts)}   of {len(report.kernels)}")]
    unresolved = sum(1 for x in report.launches if not x.resolved)
    launches = f"{len(report.launches)} launch{'' if len(report.launches) == 1 else 'es'}"
    if unresolved:
        launches += f" ({unresolved} unresolved)"
    calls = sum(c.count for c in report.calls)
    rows.append(("found", f"{launches} · {_count(calls, 'library call')}"))
    launches = program_launches(report)
    if launches:
        rows.append(("programs", launches))
    efforts = report.efforts()
    if efforts:
        each = [f"{e.value} {efforts[e]}" for e in Effort if efforts[e]]
        rows.append(("effort", " · ".join(each) + "   (kernels, by the work they leave)"))
    if report.suppressed:
        rows.append(("hidden", f"{_count(report.suppressed, 'finding')} suppressed"))
    rows.append(("time", f"{report.seconds:.1f} s"))
    status = exit_code(report)
    if status:
        closing = (*closing, ("exit", f"{status}: {exit_text(report)}"))
    for title, text in (*rows, *closing, ("next", next_action(report))):
        _print_row(console, title, text)


def _print_row(console: Console, title: str, text: str) -> None:
    for number, part in enumerate(text.split("\n")):
        console.print(Text(f"{title if not number else '':<9} {part}"), soft_wrap=True)


def program_launches(report: Report) -> str:
    """Sums of the whole-program launches of all kernels, as text; empty if there are none."""
    evidence = [(k, e) for k in report.kernels for e in k.programs]
    if not evidence:
        return ""
    counts = {
        "equal": sum(e.equal for _, e in evidence if not e.outdated),
        "different": sum(e.different for _, e in evidence),
        "not compared": sum(e.unchecked for _, e in evidence),
        "outdated": sum(e.equal for _, e in evidence if e.outdated),
    }
    shown = " · ".join(f"{n} {what}" for what, n in counts.items() if n) or "none"
    kernels = len({k.id for k, _ in evidence})
    return f"{shown}   (launches of {_count(kernels, 'kernel')} in whole programs)"


def exit_text(report: Report) -> str:
    """Return why the exit status is not 0, as text; empty where it is."""
    texts = {
        "findings": lambda n: _count(n, "finding"),
        "unparsed": lambda n: f"{_count(n, 'kernel')} unparsed",
        "outdated": lambda n: f"{_count(n, 'file')} would change",
    }
    parts = [texts[reason](n) for reason, n in exit_reasons(report).items()]
    if report.internal_errors:
        parts.insert(0, f"{_count(len(report.internal_errors), 'bug')} of tile-migrate")
    hidden = report.suppressed and not report.findings and report.count(Verdict.UNPARSED)
    return " · ".join(parts) + (" (hiding findings does not change that)" if hidden else "")


def next_action(report: Report) -> str:
    """Return the command that helps most now."""
    if report.internal_errors:
        return "report this bug with the traceback in report.json (extra)"
    headers = [d for d in report.findings if d.code == "TM0001"]
    if headers:
        return f"tile-migrate {report.root} -- -I FOLDER   ({headers[0].headline})"
    errors = [d for d in report.findings if d.severity is Severity.ERROR]
    for found in (errors, report.findings):
        if found:
            code = Counter(d.code for d in found).most_common(1)[0][0]
            return f"tile-migrate explain {code}"
    if not report.kernels:
        return "tile-migrate doctor"
    if any(k.verdict is Verdict.UNVERIFIED for k in report.kernels):
        return f"tile-migrate {report.root} --verify"
    return f"tile-migrate {report.root} -o out"


def urgency(k: KernelReport) -> tuple[int, str, int, str]:
    """Order of presentation: what needs a person first."""
    return (_URGENCY.index(k.verdict), k.file, k.line, k.id)


def _needs_a_look(k: KernelReport) -> bool:
    problem = any(d.severity is not Severity.NOTE for d in k.diagnostics)
    return problem or k.verdict in (Verdict.KEPT, Verdict.UNPARSED)


def _one_per_code_and_place(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Instances of one template share their findings; a line each is enough."""
    return list({(d.code, d.span, d.headline): d for d in found}.values())


def _display_name(k: KernelReport) -> str:
    return f"{k.name}<{', '.join(k.template_args)}>" if k.template_args else k.name


def _labels(kernels: Sequence[KernelReport], width: int) -> list[str]:
    """Names of at most ``width`` columns, whole where a cut one would not tell rows apart."""
    whole = [_display_name(k) for k in kernels]
    places = [(k.file, k.line) for k in kernels]
    twice = Counter(zip(whole, places, strict=True))
    for n, k in enumerate(kernels):  # variants of a header's kernel: ``<id>@<unit>``
        if twice[whole[n], places[n]] > 1:
            whole[n] += f"@{k.id.rpartition('@')[2]}" if "@" in k.id else f" {k.mangled}"
    cut = [_middle(name, width) for name in whole]
    again = Counter(zip(cut, places, strict=True))
    return [
        name if again[short, place] > 1 else short
        for name, short, place in zip(whole, cut, places, strict=True)
    ]


def main_code(k: KernelReport) -> str:
    """The code that the kernel's row shows: of a verified one no note."""
    severities = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
    for severity in severities[:2] if k.verdict is Verdict.VERIFIED else severities:
        codes = [d.code for d in k.diagnostics if d.severity is severity]
        if codes:
            return min(codes, key=lambda c: _NOTES.index(c) if c in _NOTES else len(_NOTES))
    return ""


def _error(k: KernelReport) -> str:
    v = k.verification
    if v is None or k.verdict is not Verdict.VERIFIED:
        return "-"
    if v.max_abs_error == 0 and v.tolerance == 0:
        return "exact"
    return f"{v.max_rel_error:.1e}"


def _tail(text: str, width: int) -> str:
    """Cut a path on its left, where it says least."""
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def _middle(text: str, width: int) -> str:
    """Cut a name before its template arguments, or in its middle where they are too long."""
    if len(text) <= width:
        return text
    arguments = len(text) - text.index("<") if "<" in text else 0
    tail = arguments if 0 < arguments <= width - 5 else (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
