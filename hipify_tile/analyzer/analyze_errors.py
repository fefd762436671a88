"""Whom a parse error concerns: the kernels whose code, or whose declarations, it lies in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.clang import file_offset, specialized_template, walk
from hipify_tile.analyzer.inventory import Inventory
from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.ir.span import Span

Extent = tuple[str, int, int]
_NAMING = (CursorKind.TYPE_REF, CursorKind.DECL_REF_EXPR, CursorKind.TEMPLATE_REF)


class ErrorMap:
    """Relates the errors of a parse to the kernels of its inventory."""

    def __init__(self, inventory: Inventory) -> None:
        """Index the errors of the unit."""
        self._inventory = inventory
        self._places: dict[str, list[tuple[int, Diagnostic]]] = {}
        for error in inventory.parsed.errors:
            for span in _spans(error):
                self._places.setdefault(span.file, []).append((span.start, error))
        for places in self._places.values():
            places.sort(key=lambda p: p[0])
        self._extents: dict[str, frozenset[Extent]] = {}

    def concerning(self, kernel: Any) -> tuple[Diagnostic, ...]:
        """Return the errors inside the kernel, the functions it calls and the types it uses."""
        if not self._places:
            return ()
        found: dict[int, Diagnostic] = {}
        for file, start, end in self._closure(kernel):
            places = self._places.get(file, [])
            at = bisect_left(places, start, key=lambda p: p[0])
            while at < len(places) and places[at][0] <= end:
                found[id(places[at][1])] = places[at][1]
                at += 1
        return tuple(found.values())

    def _closure(self, kernel: Any) -> frozenset[Extent]:
        extents: set[Extent] = {_extent(kernel)}
        seen = {kernel.get_usr()}
        pending = [kernel]
        while pending:
            cursor = pending.pop()
            for usr, target in self._uses(cursor):
                if usr not in seen:
                    seen.add(usr)
                    extents.add(_extent(target))
                    pending.append(target)
        return frozenset(extents)

    def _uses(self, cursor: Any) -> Iterable[tuple[str, Any]]:
        function = self._inventory.definition(cursor.get_usr())
        if function is not None:
            yield from function.uses.items()
            return
        pattern = specialized_template(cursor)
        for source in (cursor, *([pattern] if pattern is not None else [])):
            for node in walk(source):
                if node.kind not in _NAMING or node.referenced is None:
                    continue
                target = node.referenced.get_definition() or node.referenced
                file = target.location.file
                if file is not None and self._inventory.is_user_file(file.name):
                    yield target.get_usr(), target


def _extent(cursor: Any) -> Extent:
    file, start = file_offset(cursor.extent.start)
    _, end = file_offset(cursor.extent.end)
    pattern = specialized_template(cursor)
    if pattern is not None and pattern.location.offset == cursor.location.offset:
        # The template's header belongs to its instances.
        start = min(start, file_offset(pattern.extent.start)[1])
    return file, start, max(end, start)


def _spans(error: Diagnostic) -> list[Span]:
    own = [error.span] if error.span is not None else []
    return [*own, *(label.span for label in error.labels)]
