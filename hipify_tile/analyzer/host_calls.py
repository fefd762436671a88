"""Library calls and device symbols of a unit, and the lexical inventory of host sources.

Calls come from the syntax tree, at the true position of a macro argument and once for each use of a
macro that hides them; calls that the tree lost (in code that does not compile) are added from the
text. Host sources (``.c``, ``.cpp``) are inventoried by their text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.instances import qualified_name
from hipify_tile.analyzer.inventory import Inventory
from hipify_tile.analyzer.inventory_launches import CONFIGURE_CALLS
from hipify_tile.analyzer.inventory_text import Lines, blank, directives, in_ranges
from hipify_tile.analyzer.model import LibraryCall, SymbolFact

_LIBRARIES = (
    "cublasLt", "cublas", "cusparse", "cusolver", "curand", "cufft", "cudnn", "nccl", "cuda",
)  # fmt: skip
_NAMESPACES = ("thrust", "cub")
_NAME = re.compile(rf"({'|'.join(_LIBRARIES)})_?[A-Z]\w*\Z")
_IN_TEXT = re.compile(
    (
        rf"(?<![\w.>])((?:{'|'.join(_LIBRARIES)})[A-Z]\w*)[ \t\r\n]*\("
        rf"|(?<![\w:])((?:{'|'.join(_NAMESPACES)})(?:::\w+)+)"
        r"[ \t\r\n]*(?:<[^;{}()]*>)?[ \t\r\n]*\("
    ).encode()
)


def library_of(name: str) -> str:
    """Return the library of an API name (``cublas``, ``thrust`` …), "" if it is no API."""
    for namespace in _NAMESPACES:
        if name.startswith(f"{namespace}::"):
            return namespace
    match = _NAME.match(name)
    return match[1] if match and name not in CONFIGURE_CALLS else ""


def calls_in_text(path: str, source: bytes) -> tuple[LibraryCall, ...]:
    """Return the library calls that a host source's text shows, inactive branches included."""
    return tuple(_text_calls(path, blank(source)))


def calls(
    inventory: Inventory, skipped: dict[str, tuple[tuple[int, int], ...]]
) -> list[LibraryCall]:
    """Return the library calls of a unit; ``skipped`` are the inactive byte ranges of its files."""
    found: dict[tuple[str, int, int, str], LibraryCall] = {}
    for call in inventory.api_calls:
        name = _api_name(call.cursor)
        library = library_of(name)
        if library:
            span = inventory.spans(call.cursor)
            found[span.file, span.start, span.column, name] = LibraryCall(name, library, span)
    known = [(c.span.file, c.span.start, c.span.end, c.api) for c in found.values()]
    starts = {(file, start) for file, start, _, _ in known}
    own = {f.cursor.spelling for f in inventory.lexical} | inventory.macros
    for file in inventory.user_files:
        blanked = inventory.blanked(file)
        ignored = (*skipped.get(file, ()), *directives(blanked))
        for lost in _text_calls(file, blanked):
            span, api = lost.span, lost.api
            if api in own or in_ranges(span.start, ignored) or (file, span.start) in starts:
                continue
            if not any(f == file and s <= span.start < e and a == api for f, s, e, a in known):
                found[file, span.start, span.column, api] = lost
    return sorted(found.values(), key=lambda c: (c.span.file, c.span.start, c.span.column))


def symbols(inventory: Inventory) -> Iterator[SymbolFact]:
    """Yield the ``__device__``, ``__constant__`` and ``__managed__`` variables of a unit."""
    for cursor in inventory.variables:
        kind = symbol_kind(cursor)
        if kind:
            yield SymbolFact(
                name=cursor.spelling,
                qualified=qualified_name(cursor).replace("(anonymous namespace)::", ""),
                kind=kind,
                type=cursor.type.spelling,
                span=inventory.spans(cursor),
                defined=cursor.get_definition() is not None,
            )


def symbol_kind(cursor: Any) -> str:
    """Return "device", "constant" or "managed" for such a variable, else ""."""
    kinds = {child.kind for child in cursor.get_children()}
    notes = {c.spelling for c in cursor.get_children() if c.kind == CursorKind.ANNOTATE_ATTR}
    if "managed" in notes:
        return "managed"
    if CursorKind.CUDACONSTANT_ATTR in kinds:
        return "constant"
    if CursorKind.CUDADEVICE_ATTR in kinds:
        return "device"
    return ""


def _api_name(cursor: Any) -> str:
    target = cursor.referenced
    if target is not None and target.spelling:
        name = qualified_name(target)
        root = name.split("::", 1)[0]
        # The inline namespaces of thrust and cub are nobody's business.
        return name if root in _NAMESPACES else str(target.spelling)
    callee = next(iter(cursor.get_children()), None)
    while callee is not None and callee.kind == CursorKind.UNEXPOSED_EXPR:
        callee = next(iter(callee.get_children()), None)
    if callee is None:
        return ""
    names = [c for c in callee.get_children() if c.kind == CursorKind.OVERLOADED_DECL_REF]
    return str(callee.spelling or (names[0].spelling if names else ""))


def _text_calls(path: str, blanked: bytes) -> Iterator[LibraryCall]:
    lines = Lines(blanked)
    for match in _IN_TEXT.finditer(blanked):
        group = 1 if match[1] is not None else 2
        name = match[group].decode()
        span = lines.span(path, match.start(group), match.end(group))
        yield LibraryCall(name, library_of(name), span)
