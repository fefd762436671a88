"""Bodies of pure host functions, which the reference build empties.

``int main() { …libraries… }  →  int main() {}``: what only the host runs needs no library to
compile. A body stays when device code or the start-up of the program may run it, when it is
constexpr or its return type is deduced from it, when a macro made it, or when it holds directives
that reach outside.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import CursorKind

from hipify_tile.analyzer.inventory import Inventory
from hipify_tile.analyzer.inventory_functions import Function
from hipify_tile.analyzer.inventory_text import directives
from hipify_tile.analyzer.model import StrippedBody

_LINKED = re.compile(rb"#[ \t]*(?:define|undef|include|pragma[ \t]+(?:push|pop))")
_OPEN = re.compile(rb"#[ \t]*if")
_MIDDLE = re.compile(rb"#[ \t]*el")
_CLOSE = re.compile(rb"#[ \t]*endif")


def host_bodies(inventory: Inventory) -> tuple[StrippedBody, ...]:
    """Return the outermost strippable bodies of the unit's user files, in source order."""
    needed = _needed(inventory)
    found: list[StrippedBody] = []
    for function in inventory.lexical:
        if function.usr in needed or function.cursor.spelling in needed:
            continue
        body = _strippable(function, inventory)
        if body is not None:
            found.append(body)
    found.sort(key=lambda b: (b.file, b.start, -b.end))
    outermost: list[StrippedBody] = []
    for body in found:
        last = outermost[-1] if outermost else None
        if last is None or last.file != body.file or body.start >= last.end:
            outermost.append(body)
    return tuple(outermost)


def _needed(inventory: Inventory) -> set[str]:
    """Return the functions that device code or static initialisation reaches: USRs, and names."""
    everything = [*inventory.functions.values(), *inventory.lexical]
    by_usr: dict[str, list[Function]] = {}
    by_name: dict[str, list[Function]] = {}
    for function in everything:
        by_usr.setdefault(function.usr, []).append(function)
        by_name.setdefault(function.cursor.spelling, []).append(function)
    needed: set[str] = set()
    pending = [inventory.initialisers, *(f for f in everything if f.kernel or f.device)]
    while pending:
        function = pending.pop()
        for usr, target in function.uses.items():
            if target.kind not in _CALLABLE or usr in needed:
                continue
            # An instance and its template share a name and the text of their body.
            needed.add(usr)
            needed.add(target.spelling)
            pending += by_usr.get(usr, [])
            pending += [f for f in by_name.get(target.spelling, []) if f.dependent]
        for name in function.names - needed:
            needed.add(name)
            pending += by_name.get(name, [])
    return needed


_CALLABLE = (
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE,
)  # fmt: skip


def _strippable(function: Function, inventory: Inventory) -> StrippedBody | None:
    cursor = function.cursor
    if function.kernel or function.device:
        return None
    span = inventory.spans(function.body)
    if span.in_macro or not inventory.is_user_file(span.file):
        return None
    text = inventory.blanked(span.file)
    if text[span.start : span.start + 1] != b"{" or text[span.end - 1 : span.end] != b"}":
        return None
    if _needs_body(*_header(cursor, text, span.start)) or not _self_contained(
        text[span.start : span.end]
    ):
        return None
    return StrippedBody(span.file, span.start, span.end)


def _header(cursor: Any, text: bytes, body: int) -> tuple[bytes, bytes]:
    """Return the declaration in front of a body, with the specifiers before its extent.

    The second part begins behind the name.
    """
    name = min(cursor.location.offset, body)
    start = max(text.rfind(mark, 0, name) for mark in (b";", b"}", b"{")) + 1
    parameters = text.find(b"(", name, body)
    split = parameters if parameters >= 0 else name
    return text[start:split], text[split:body]


def _needs_body(specifiers: bytes, rest: bytes) -> bool:
    """Whether a function is constexpr, or its return type comes from its body."""
    if re.search(rb"\b(?:constexpr|consteval)\b", specifiers):
        return True
    count = 1
    while count:  # ``template <auto K> void f()`` deduces nothing from the body
        specifiers, count = re.subn(rb"<[^<>]*>", b" ", specifiers)
    return re.search(rb"\bauto\b", specifiers) is not None and b"->" not in rest


def _self_contained(body: bytes) -> bool:
    """Whether the directives in a body are balanced and define nothing."""
    depth = 0
    for start, end in directives(body):
        line = body[start:end].lstrip()
        if _LINKED.match(line):
            return False
        if _OPEN.match(line):
            depth += 1
        elif _CLOSE.match(line):
            depth -= 1
        if depth < 0 or (depth == 0 and _MIDDLE.match(line)):
            return False
    return depth == 0
