"""Where host rewriting edits kernels: bodies, parameters and the functions that share memory.

Positions in the user's text, for ``rewriter/emit/host.py``. Of a body that a macro makes
only the macro's invocation is told (the text scan there handles macro definitions).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clang.cindex import CursorKind, StorageClass

from hipify_tile.analyzer.clang import file_offset, has_attribute
from hipify_tile.analyzer.host_calls import symbol_kind
from hipify_tile.analyzer.instances import mangled_name
from hipify_tile.analyzer.inventory import Inventory, is_instance
from hipify_tile.analyzer.inventory_functions import Function
from hipify_tile.analyzer.model import KernelDefinition, NamedPlace, SharedView, StrippedBody
from hipify_tile.ir.span import Span

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
        file, start, after = body.file, body.start, body.end if body.in_macro else 0
        children = list(cursor.get_children())
        templates = tuple(_place(c, inventory) for c in children if c.kind in _TEMPLATE_PARAMETERS)
        parameters = tuple(_place(c, inventory) for c in children if c.kind == CursorKind.PARM_DECL)
        name_file, name = file_offset(cursor.location)
        if after and not (name_file == file and cursor.location.offset < start):
            after = -1
        yield KernelDefinition(
            name=cursor.spelling,
            file=file,
            body=start,
            line=inventory.lines(file).position(start)[0],
            name_end=name + len(cursor.spelling.encode()) if name_file == file else -1,
            templates=templates,
            parameters=parameters,
            internal=_is_internal(cursor),
            scope=_scope(cursor),
            macro_end=after,
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


def device_names(inventory: Inventory) -> Iterator[str]:
    """Yield the mangled names of the functions and variables that only device code has."""
    for function in inventory.functions.values():
        host = has_attribute(function.cursor, CursorKind.CUDAHOST_ATTR)
        if function.device and not (function.kernel or host or function.dependent):
            yield mangled_name(function.cursor)
    for cursor in inventory.variables:
        if symbol_kind(cursor) and cursor.get_definition() is not None:
            yield mangled_name(cursor)


def _body(cursor: Any, inventory: Inventory) -> Span | None:
    for child in cursor.get_children():
        if child.kind == CursorKind.COMPOUND_STMT:
            return _span(child, inventory)
    return None


def _body_of(function: Function, inventory: Inventory) -> tuple[str, int] | None:
    span = _span(function.body, inventory)
    return None if span is None or span.in_macro else (span.file, span.start)


def _span(body: Any, inventory: Inventory) -> Span | None:
    """The body in a user's file: from its ``{``, or the macro invocation that makes it."""
    span = inventory.spans(body)
    if not inventory.is_user_file(span.file):
        return None
    text = inventory.source(span.file)
    if span.in_macro or text[span.start : span.start + 1] == b"{":
        return span
    # A macro makes one of its braces.
    return replace(span, in_macro=True, end=span.start)


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


def _scope(cursor: Any) -> str:
    """``::ns::Class::``; unnamed namespaces need no name, a class's own parameters neither."""
    names: list[str] = []
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        if parent.kind not in (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC):
            return f"{parent.spelling}::"  # the class's name inside itself
        if parent.kind == CursorKind.NAMESPACE and parent.spelling and not _is_unnamed(parent):
            names.insert(0, parent.spelling)
        parent = parent.semantic_parent
    return "::" + "".join(f"{name}::" for name in names)


def _is_unnamed(namespace: Any) -> bool:
    return bool(namespace.is_anonymous()) or namespace.spelling.startswith("(")
