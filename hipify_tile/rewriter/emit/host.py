"""Host code that launches through the launch seam: span edits on copies of the user's files.

    k<T, 4><<<g, b>>>(x, n);       →  TM_LAUNCH((k<T, 4>), (g, b), (x, n));
    __global__ void k(T *x) {…}    →  __global__ void k(T *x) { TM_KERNEL_ENTRY((k<T>), …) …}
    extern __shared__ float s[];   →  TM_DYNAMIC_SHARED(s, , float);

Bytes in, bytes out: everything that no edit covers stays as it is, line ends, byte order marks and
encodings included. The macros (``tm_rewritten.h``) are CUDA's own text under nvcc. Nothing here
decides whether a kernel is migrated: that is the runtime's choice at each launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hipify_tile.analyzer.inventory_text import Lines, blank, directives, in_ranges, joined
from hipify_tile.analyzer.model import KernelDefinition, NamedPlace, UnitAnalysis
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic
from hipify_tile.ir.span import Span
from hipify_tile.rewriter.emit import host_text

_BOM = b"\xef\xbb\xbf"
_INCLUDE = b'#include "tm_rewritten.h"'
_ENTRY = b" TM_KERNEL_ENTRY("
_VIEW = b" TM_DYNAMIC_SHARED_VIEW("


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes [start, end) of a file become ``text``; equal ends insert. ``what`` is the reason."""

    start: int
    end: int
    text: bytes
    what: str


@dataclass(frozen=True, slots=True)
class RewrittenFile:
    """A file's edits, and its bytes with all of them applied."""

    path: str
    edits: tuple[Edit, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class HostRewrite:
    """The outcome for a project: files that change, by path, and what could not be rewritten."""

    files: Mapping[str, RewrittenFile] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def rewrite_host(
    analyses: Sequence[UnitAnalysis], sources: Mapping[str, bytes], *, line_of: bool = True
) -> HostRewrite:
    """Rewrite every file of ``sources`` (by absolute path) that has CUDA constructs.

    ``analyses`` are all units that read them: a header is edited once, with what all of them know.
    ``line_of`` adds a ``#line`` directive, so that messages and ``__FILE__`` name the original.
    Constructs that cannot be rewritten become TM6001.
    """
    files: dict[str, RewrittenFile] = {}
    problems: list[Diagnostic] = []
    makers = host_text.kernel_macros(blank(joined(source)) for source in sources.values())
    for path, spelled in sources.items():
        source = joined(spelled)
        rewriter = _FileRewriter(path, source, analyses, makers)
        edits = tuple(sorted(rewriter.edits(), key=lambda e: (e.start, e.end)))
        problems += rewriter.problems
        if edits and _INCLUDE not in source:
            edits = (_include(path, source, line_of=line_of), *edits)
        if edits:
            files[path] = RewrittenFile(path, edits, apply(source, edits))
    return HostRewrite(files, tuple(problems))


def apply(source: bytes, edits: Sequence[Edit]) -> bytes:
    """Return ``source`` with ``edits`` (sorted) applied; raises ValueError where two overlap."""
    out = bytearray()
    at = 0
    for edit in edits:
        if edit.start < at:
            raise ValueError(f"edits overlap at byte {edit.start}: {edit.what}")
        out += source[at : edit.start] + edit.text
        at = edit.end
    return bytes(out + source[at:])


def _include(path: str, source: bytes, *, line_of: bool) -> Edit:
    at = len(_BOM) if source.startswith(_BOM) else 0
    newline = b"\r\n" if b"\r\n" in source.split(b"\n", 1)[0] + b"\n" else b"\n"
    text = _INCLUDE + b"  // tile-migrate: host code launches through the launch seam" + newline
    if line_of:
        name = path.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "surrogateescape")
        text += b'#line 1 "' + name + b'"' + newline
    return Edit(at, at, text, "include")


class _FileRewriter:
    def __init__(
        self,
        path: str,
        source: bytes,
        analyses: Sequence[UnitAnalysis],
        kernel_macros: frozenset[bytes],
    ) -> None:
        self.path = path
        self.source = source
        self.text = blank(source)
        self.macros = directives(self.text)
        self.lines = Lines(source)
        self.analyses = [a for a in analyses if path in a.user_files]
        self.kernel_macros = kernel_macros
        self.problems: list[Diagnostic] = []

    def edits(self) -> Iterator[Edit]:
        yield from self.launches()
        yield from self.kernels()
        yield from self.shared()
        yield from self.assembly()

    def launches(self) -> Iterator[Edit]:
        for found in host_text.launches(self.text, self.macros):
            if isinstance(found, int):
                self.refuse(found, "the end of this launch cannot be told")
                continue
            if found.callee is None or found.arguments is None:
                # `#define CONFIGURED(g, b) <<<g, b>>>`
                note = b"TM_CONFIGURATION( /* tile-migrate: <<< */ "
                if self.source[found.open - 1 : found.open].strip():
                    note = b" " + note
                yield Edit(found.open, found.open + 3, note, "configuration")
                yield Edit(found.close, found.close + 3, b")", "configuration")
                continue
            yield Edit(found.callee, found.callee, b"TM_LAUNCH((", "launch")
            yield Edit(found.open, found.open + 3, b"), (", "launch")
            between = self.source[found.close + 3 : found.arguments]
            yield Edit(found.close, found.arguments, b")," + (between or b" "), "launch")
            yield Edit(found.end, found.end, b") /* tile-migrate: <<<>>> */", "launch")

    def kernels(self) -> Iterator[Edit]:
        known: dict[int, KernelDefinition] = {}
        for analysis in self.analyses:
            for definition in analysis.definitions:
                if definition.file == self.path:
                    known.setdefault(definition.body, definition)
        for body, definition in known.items():
            if definition.macro_end < 0:
                self.check_macro(definition)
            elif not self.source.startswith(_ENTRY, body + 1):
                yield from self.entry(definition)
        for found in host_text.kernels(self.text, self.macros):
            if isinstance(found, int):
                self.refuse(found, "the kernel that this macro defines cannot be read")
            elif found.body not in known and not self.source.startswith(_ENTRY, found.body + 1):
                if in_ranges(found.body, self.macros) and self.source.startswith(b"#", found.body):
                    continue
                places = tuple(
                    NamedPlace(name, 0, pack=pack)
                    for name, pack in zip(found.parameters, found.packs, strict=True)
                )
                text = _entry_text(found.name, places)
                yield Edit(found.body + 1, found.body + 1, text, "kernel")

    def entry(self, definition: KernelDefinition) -> Iterator[Edit]:
        parameters: list[NamedPlace] = []
        templates: list[NamedPlace] = []
        for kind, places, named in (
            ("tm_p", definition.parameters, parameters),
            ("tm_t", definition.templates, templates),
        ):
            for number, place in enumerate(places):
                name = place.name or f"{kind}{number}"
                named.append(NamedPlace(name, place.offset, pack=place.pack))
                if not place.name:
                    text = f" {name} ".encode()
                    yield Edit(place.offset, place.offset, text, "parameter")
        arguments = ""
        if templates:
            arguments = f"<{', '.join(p.name + '...' * p.pack for p in templates)}>"
        elif definition.name_end >= 0:
            arguments = host_text.explicit_arguments(self.text, definition.name_end)
        shadowed = any(p.name == definition.name for p in parameters)
        name = definition.scope * shadowed + definition.name + arguments
        bounds = host_text.launch_bounds(self.text, definition.body)
        text = _entry_text(name, parameters, bounds)
        if definition.macro_end:
            # `void k(int *x) BODY` → `void k(int *x) { TM_KERNEL_ENTRY(…) BODY }`
            yield Edit(definition.body, definition.body, b"{" + text + b" ", "kernel")
            yield Edit(definition.macro_end, definition.macro_end, b" }", "kernel")
        else:
            yield Edit(definition.body + 1, definition.body + 1, text, "kernel")

    def check_macro(self, definition: KernelDefinition) -> None:
        """Refuse a kernel that a macro makes, unless the macro's text gives it its entry."""
        name = host_text.word_at(self.text, definition.body)
        if name not in self.kernel_macros:
            self.refuse(definition.body, f"the body of {definition.name} is made by a macro")

    def shared(self) -> Iterator[Edit]:
        views = {
            view.body: view.names
            for analysis in self.analyses
            for view in analysis.shared_views
            if view.file == self.path
        }
        namespaced = {name for names in views.values() for name in names}
        for found in host_text.shared_arrays(self.text, self.macros):
            if isinstance(found, int):
                self.refuse(found, "this declaration of shared memory is not understood")
                continue
            if found.name in namespaced and not self.inside_function(found.start):
                continue
            kind = found.type
            if found.array:
                text = f"TM_DYNAMIC_SHARED({found.name}, {found.dimensions}, {kind})"
            else:
                text = f"TM_DYNAMIC_SHARED_OBJECT({found.name}, {kind})"
            text += " /* tile-migrate: extern __shared__ */"
            yield Edit(found.start, found.end, text.encode("latin-1"), "shared")
        for body, names in views.items():
            if self.source.startswith(_VIEW, self.after_entry(body)):
                continue
            text = " ".join(f"TM_DYNAMIC_SHARED_VIEW({name})" for name in names)
            inserted = f" {text} /* tile-migrate */".encode()
            # Sorted after the entry, which is inserted at the same place.
            yield Edit(body + 1, body + 1, inserted, "view")

    def assembly(self) -> Iterator[Edit]:
        """PTX in device code, which the host's assembler does not know."""
        bodies = [
            (body.start, body.end)
            for analysis in self.analyses
            for body in analysis.device_bodies
            if body.file == self.path
        ]
        for start, end in host_text.assembly(self.text):
            wrapped = self.source.startswith(b"TM_DEVICE_ASM(", max(0, start - 14))
            if in_ranges(start, bodies) and not wrapped:
                yield Edit(start, start, b"TM_DEVICE_ASM(", "assembly")
                yield Edit(end, end, b") /* tile-migrate: PTX */", "assembly")

    def inside_function(self, offset: int) -> bool:
        """Whether ``offset`` is inside the body of a function that the analysis knows."""
        for analysis in self.analyses:
            for definition in analysis.definitions:
                if definition.file == self.path and definition.body < offset:
                    end = host_text.matching(self.text, definition.body, len(self.text))
                    if end is not None and offset < end:
                        return True
        return False

    def after_entry(self, body: int) -> int:
        if not self.source.startswith(_ENTRY, body + 1):
            return body + 1
        at = self.source.find(b"*/", body)
        return at + 2 if at >= 0 else body + 1

    def refuse(self, offset: int, note: str) -> None:
        line, column = self.lines.position(offset)
        span = Span(self.path, line, column, offset, offset + 3)
        self.problems.append(diagnostic("TM6001", span, notes=(note,)))


def _entry_text(name: str, parameters: Sequence[NamedPlace], bounds: str = "") -> bytes:
    types = ", ".join(f"decltype({p.name}){'...' * p.pack}" for p in parameters)
    names = ", ".join(p.name + "..." * p.pack for p in parameters)
    limit = f", ({bounds})" if bounds else ""
    text = f"{_ENTRY.decode()}({name}), ({types}), ({names}){limit}) /* tile-migrate: kernel */"
    return text.encode("latin-1")
