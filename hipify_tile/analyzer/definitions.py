"""Where host rewriting edits kernels: bodies, parameters and the functions that share memory.

Positions in the user's text, for ``rewriter/emit/host.py``. A definition whose body a macro's text
makes has no position here (the text scan there handles macro definitions).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clang.cindex import CursorKind, StorageClass

from hipify_tile.analyzer.clang import file_offset, has_attribute
from hipify_tile.analyzer.inventory import Inventory, is_instance
from hipify_tile.analyzer.inventory_functions import Function
from hipify_tile.analyzer.model import KernelDefinition, NamedPlace, SharedView, StrippedBody

_TEMPLATE_PARAMETERS = (
    CursorKind.TEMPLATE_TYPE_PARAMETER,
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
    CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
)


def definitions(inventory: Inventory) -> Iterator[KernelDefinition]:
    """Yield each kernel definition of the user's files as written (templates once)."""
    written = [c for c in inventory.kernels.values() if not is_instance(c)]
    # An instance of a template that was declared before looks as written: the template comes first.
    for cursor in (*inventory.kernel_templates.values(), *written):
        body = _body(cursor, inventory)
        if body is None:
            continue
        file, start = body
        children = list(cursor.get_children())
        templates = tuple(_place(c, inventory) for c in children if c.kind in _TEMPLATE_PARAMETERS)
        parameters = tuple(_place(c, inventory) for c in children if c.kind == CursorKind.PARM_DECL)
        name_file, name = file_offset(cursor.location)
        yield KernelDefinition(
            name=cursor.spelling,
            file=file,
            body=start,
            line=inventory.lines(file).position(start)[0],
            name_end=name + len(cursor.spelling.encode()) if name_file == file else -1,
            templates=templates,
            parameters=parameters,
            internal=_is_internal(cursor),
        )


def shared_views(inventory: Inventory) -> Iterator[SharedView]:
    """Yield the functions that use a dynamic shared array declared at namespace scope."""
    arrays = {
        c.get_usr(): c.spelling
        for c in inventory.variables
        if c.storage_class == StorageClass.EXTERN and has_attribute(c, CursorKind.CUDASHARED_ATTR)
    }
    if not arrays:
        return
    seen = set()
    for function in inventory.lexical:
        names = {arrays[usr] for usr in function.uses if usr in arrays}
        body = _body_of(function, inventory) if names else None
        if body is None or body in seen:
            continue
        seen.add(body)
        yield SharedView(body[0], body[1], tuple(sorted(names)))


def device_bodies(inventory: Inventory) -> Iterator[StrippedBody]:
    """Yield the bodies of kernels and ``__device__`` functions as written."""
    for function in inventory.lexical:
        span = inventory.spans(function.body)
        if (function.kernel or function.device) and not span.in_macro:
            yield StrippedBody(span.file, span.start, span.end)


def _body(cursor: Any, inventory: Inventory) -> tuple[str, int] | None:
    for child in cursor.get_children():
        if child.kind == CursorKind.COMPOUND_STMT:
            return _opening(child, inventory)
    return None


def _body_of(function: Function, inventory: Inventory) -> tuple[str, int] | None:
    return _opening(function.body, inventory)


def _opening(body: Any, inventory: Inventory) -> tuple[str, int] | None:
    span = inventory.spans(body)
    if span.in_macro or not inventory.is_user_file(span.file):
        return None
    text = inventory.source(span.file)
    return (span.file, span.start) if text[span.start : span.start + 1] == b"{" else None


def _place(cursor: Any, inventory: Inventory) -> NamedPlace:
    file, offset = file_offset(cursor.location)
    start_file, start = file_offset(cursor.extent.start)
    before = inventory.blanked(file)[start:offset] if start_file == file else b""
    pack = b"..." in before or cursor.type.spelling.endswith("...")
    return NamedPlace(cursor.spelling, offset, pack=pack)


def _is_internal(cursor: Any) -> bool:
    if cursor.linkage.name in ("INTERNAL", "UNIQUE_EXTERNAL"):
        return True
    return bool(cursor.storage_class == StorageClass.STATIC)
