"""Analysis of one translation unit: parse, take inventory, import every kernel, collect facts.

``analyze_unit`` never raises for what a file contains: a file that cannot be read or parsed, a
kernel in a parse error and a kernel that is not understood all become coded diagnostics.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hipify_tile.analyzer.analyze_errors import ErrorMap
from hipify_tile.analyzer.clang import file_offset, skipped_ranges, specialized_template
from hipify_tile.analyzer.clang_parse import ParsedUnit, ParseFailed, parse
from hipify_tile.analyzer.definitions import definitions, device_bodies, device_names, shared_views
from hipify_tile.analyzer.host_calls import calls, calls_in_text, symbols
from hipify_tile.analyzer.importing import ImportResult, import_kernel
from hipify_tile.analyzer.instances import InstanceNames, names, qualified_name
from hipify_tile.analyzer.inventory import Inventory
from hipify_tile.analyzer.inventory_bodies import host_bodies
from hipify_tile.analyzer.inventory_check import (
    LostKernel,
    inactive_kernels,
    lost_kernels,
    lost_launches,
)
from hipify_tile.analyzer.inventory_text import is_binary
from hipify_tile.analyzer.launch_facts import LaunchFacts
from hipify_tile.analyzer.model import CompileUnit, FileStatus, KernelFact, LaunchFact, UnitAnalysis
from hipify_tile.cache import default_directory
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span

Importer = Callable[..., ImportResult]
Ranges = dict[str, tuple[tuple[int, int], ...]]
_ERROR_LIMIT = 20


def analyze_unit(
    unit: CompileUnit, *, cache: Path | None = None, importer: Importer = import_kernel
) -> UnitAnalysis:
    """Analyse ``unit``; ``cache`` is the folder for precompiled headers (default: the user's).

    ``importer`` has the signature of ``import_kernel``: a driver may pass one that survives bugs.
    """
    started = time.perf_counter()
    try:
        source = Path(unit.path).read_bytes()
    except OSError as error:
        return _unreadable(unit, f"{error.strerror}", started)
    if is_binary(source):
        return _unreadable(unit, "the file holds NUL bytes: it is not C++ text", started)
    if unit.language != "cuda":
        status = FileStatus(unit.path, "parsed", _ms(started))
        found = calls_in_text(unit.path, source)
        return UnitAnalysis(
            unit, (status,), (), (), found, (), (unit.path,), (), milliseconds=_ms(started)
        )
    try:
        parsed = parse(unit, cache_dir=cache or default_directory())
    except OSError as error:
        return _unreadable(unit, f"{error.strerror}", started)
    except ParseFailed:
        found_error = diagnostic("TM0002", Span(unit.path, 1, 1, 0, 0), notes=("libclang gave up",))
        return _empty(unit, found_error, started)
    return _Analysis(parsed, importer).run(started)


class _Analysis:
    def __init__(self, parsed: ParsedUnit, importer: Importer) -> None:
        self.parsed = parsed
        self.unit = parsed.unit
        self.importer = importer
        self.inventory = Inventory(parsed)
        self.errors = ErrorMap(self.inventory)
        self.skipped: Ranges = {
            file: skipped_ranges(parsed.tu, file) for file in self.inventory.user_files
        }

    def run(self, started: float) -> UnitAnalysis:
        launches = tuple(LaunchFacts(self.inventory).facts())
        kernels = tuple(_unique([*self.instances(), *self.templates(), *self.lost()]))
        notes = [*self.unit_errors(), *self.inactive(), *self.launch_problems(launches)]
        milliseconds = _ms(started)
        return UnitAnalysis(
            unit=self.unit,
            files=tuple(self.statuses(milliseconds)),
            kernels=kernels,
            launches=launches,
            calls=tuple(calls(self.inventory, self.skipped)),
            symbols=tuple(symbols(self.inventory)),
            user_files=self.inventory.user_files,
            host_bodies=host_bodies(self.inventory),
            diagnostics=tuple(notes),
            milliseconds=_ms(started),
            definitions=tuple(definitions(self.inventory)),
            shared_views=tuple(shared_views(self.inventory)),
            device_bodies=tuple(device_bodies(self.inventory)),
            device_names=tuple(sorted(set(device_names(self.inventory)))),
        )

    def instances(self) -> Iterator[KernelFact]:
        cursors = dict(self.inventory.kernels)
        shared_names = Counter((qualified_name(c), _arguments_text(c)) for c in cursors.values())
        ordered = sorted(
            cursors.items(), key=lambda item: (*file_offset(item[1].location), item[0])
        )
        for usr, cursor in ordered:
            same = shared_names[qualified_name(cursor), _arguments_text(cursor)]
            named = names(cursor, overloaded=same > 1)
            yield self.instance(usr, cursor, named, same > 1)

    def instance(self, usr: str, cursor: Any, named: InstanceNames, overloaded: bool) -> KernelFact:
        pattern = specialized_template(cursor)
        file, _ = file_offset(cursor.location)
        identity = f"{self.relative(file)}:{named.qualified}"
        if named.template_args:
            identity += f"<{', '.join(named.template_args)}>"
        if overloaded:
            identity += f"({named.signature})"
        fact = KernelFact(
            id=identity,
            usr=usr,
            name=named.name,
            qualified=named.qualified,
            spelling=named.spelling,
            mangled=named.mangled,
            template_args=named.template_args,
            instance_of=pattern.get_usr() if pattern is not None else "",
            span=self.name_span(cursor),
            cuda_source=self.source_text(cursor),
            kernel=None,
        )
        errors = self.errors.concerning(cursor)
        if errors:
            found = tuple(_in_error(error, identity) for error in errors[:3])
            return replace(fact, diagnostics=found, unparsed=True)
        result = self.importer(
            cursor,
            self.inventory.spans,
            name=named.name,
            mangled=named.mangled,
            kernel_id=identity,
        )
        return replace(fact, kernel=result.kernel, diagnostics=result.diagnostics)

    def templates(self) -> Iterator[KernelFact]:
        """Yield the kernel templates that nothing instantiates."""
        used = set()
        for cursor in self.inventory.kernels.values():
            pattern = specialized_template(cursor)
            if pattern is not None:
                used.add(pattern.get_usr())
        for usr, cursor in self.inventory.kernel_templates.items():
            if usr in used:
                continue
            file, _ = file_offset(cursor.location)
            qualified = qualified_name(cursor).replace("(anonymous namespace)::", "")
            identity = f"{self.relative(file)}:{qualified}"
            span = self.name_span(cursor)
            errors = self.errors.concerning(cursor)
            found = tuple(_in_error(error, identity) for error in errors[:3]) or (
                diagnostic(
                    "TM1201", span, kernel=identity, help="launch or instantiate the kernel"
                ),
            )
            yield KernelFact(
                id=identity,
                usr=usr,
                name=cursor.spelling,
                qualified=qualified,
                spelling="",
                mangled="",
                template_args=(),
                instance_of="",
                span=span,
                cuda_source=self.source_text(cursor),
                kernel=None,
                diagnostics=found,
                unparsed=bool(errors),
            )

    def lost(self) -> Iterator[KernelFact]:
        for item in lost_kernels(self.inventory, self.skipped):
            yield self.lost_fact(item)

    def lost_fact(self, item: LostKernel) -> KernelFact:
        name = item.name or f"line {item.span.line}"
        identity = f"{self.relative(item.span.file)}:{name}"
        near = [
            e for e in self.parsed.errors if e.span is not None and e.span.file == item.span.file
        ]
        note = "the front end could not build this kernel"
        notes = (note, *(n for e in near[:1] for n in (e.notes[:1] or (e.headline,))))
        source = self.inventory.source(item.span.file)
        line_end = source.find(b"\n", item.span.end)
        text = source[item.span.start : line_end if line_end >= 0 else len(source)]
        return KernelFact(
            id=identity,
            usr="",
            name=name,
            qualified=name,
            spelling="",
            mangled="",
            template_args=(),
            instance_of="",
            span=item.span,
            cuda_source=text.decode("utf-8", "replace"),
            kernel=None,
            diagnostics=(diagnostic("TM0004", item.span, kernel=identity, notes=notes),),
            unparsed=True,
        )

    def unit_errors(self) -> Iterator[Diagnostic]:
        if not self.parsed.system_headers:
            help = "install libstdc++ headers, or pass their folder: -- -isystem FOLDER"
            yield diagnostic("TM0007", Span(self.unit.path, 1, 1, 0, 0), help=help)
        # One cause, such as a missing header, repeats in many places.
        groups: dict[str, list[Diagnostic]] = {}
        for error in self.parsed.errors:
            groups.setdefault(error.notes[0] if error.notes else error.headline, []).append(error)
        shown = sorted(groups.values(), key=lambda g: g[0].code)[:_ERROR_LIMIT]
        for group in shown:
            more = (f"{len(group) - 1} more errors like this",) if len(group) > 1 else ()
            yield replace(group[0], notes=(*group[0].notes, *more))
        if len(groups) > _ERROR_LIMIT:
            headline = f"{len(groups) - _ERROR_LIMIT} more kinds of parse errors"
            span = Span(self.unit.path, 1, 1, 0, 0)
            yield diagnostic("TM0002", span, headline=headline)

    def inactive(self) -> Iterator[Diagnostic]:
        for item in inactive_kernels(self.inventory, self.skipped):
            more = f" and {item.count - 1} more" if item.count > 1 else ""
            headline = f"{item.name}{more} left out by {item.condition or 'the preprocessor'}"
            help = "pass the macros of your build: -- -DNAME"
            yield diagnostic("TM0012", item.span, headline=headline, help=help)

    def launch_problems(self, launches: tuple[LaunchFact, ...]) -> Iterator[Diagnostic]:
        known = {(launch.span.file, launch.span.start) for launch in launches}
        for launch in launches:
            if not launch.resolved:
                yield diagnostic(
                    "TM1202", launch.span, notes=("the callee is not a kernel known here",)
                )
        for cursor in self.inventory.dependent_launches:
            span = self.inventory.spans(cursor)
            if (span.file, span.start) not in known:
                note = "it stands in a template that is never instantiated"
                yield diagnostic("TM1202", span, notes=(note,))
        for span in lost_launches(self.inventory, self.skipped):
            note = "the front end could not build this launch"
            yield diagnostic("TM1202", span, notes=(note,))

    def statuses(self, milliseconds: float) -> Iterator[FileStatus]:
        broken = {e.span.file for e in self.parsed.errors if e.span is not None}
        for file in self.inventory.user_files:
            main = file == self.unit.path
            yield FileStatus(
                file, "partial" if file in broken else "parsed", milliseconds if main else 0.0
            )

    def relative(self, file: str) -> str:
        root = self.unit.root or str(Path(self.unit.path).parent)
        path = Path(file)
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name

    def name_span(self, cursor: Any) -> Span:
        file, start = file_offset(cursor.location)
        end = start + len(cursor.spelling.encode())
        return self.inventory.lines(file).span(file, start, end)

    def source_text(self, cursor: Any) -> str:
        """Return the definition's text, from its template header or specifiers on."""
        pattern = specialized_template(cursor)
        written = pattern if pattern is not None else cursor
        if pattern is not None and pattern.location.offset != cursor.location.offset:
            written = cursor
        span = self.inventory.spans(written)
        source, text = self.inventory.source(span.file), self.inventory.blanked(span.file)
        _, name = file_offset(cursor.location)
        start = span.start
        word = text.rfind(b"__global__", 0, name)
        if 0 <= word < start and not any(m in text[word:name] for m in (b";", b"{", b"}")):
            start = word
        return source[start : span.end].decode("utf-8", "replace")


def _arguments_text(cursor: Any) -> str:
    # The USR of an instance ends with its template arguments and parameter types; instances of one
    # template with different arguments are no overloads.
    pattern = specialized_template(cursor)
    return "" if pattern is None else str(cursor.mangled_name)


def _unique(facts: list[KernelFact]) -> Iterator[KernelFact]:
    seen: Counter[str] = Counter()
    for fact in facts:
        seen[fact.id] += 1
        if seen[fact.id] > 1:
            fact = replace(fact, id=f"{fact.id}#{seen[fact.id]}")
        yield fact


def _in_error(error: Diagnostic, kernel: str) -> Diagnostic:
    text = error.notes[0] if error.notes else error.headline
    return diagnostic("TM0004", error.span, kernel=kernel, notes=(text,))


def _unreadable(unit: CompileUnit, note: str, started: float) -> UnitAnalysis:
    return _empty(unit, diagnostic("TM0003", Span(unit.path, 1, 1, 0, 0), notes=(note,)), started)


def _empty(unit: CompileUnit, finding: Diagnostic, started: float) -> UnitAnalysis:
    status = FileStatus(unit.path, "unparsed", _ms(started))
    return UnitAnalysis(
        unit, (status,), (), (), (), (), (unit.path,), (), (finding,), milliseconds=_ms(started)
    )


def _ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000.0
