"""The cross-check: what the text says is there and the syntax tree did not show.

A parse error can remove a whole kernel or launch from the tree. Every ``__global__`` and ``<<<`` in
active code has to belong to something the inventory found, or it is reported. Kernels in inactive
code are reported too, since a macro of the user's build may be missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipify_tile.analyzer.clang import file_offset
from hipify_tile.analyzer.inventory import Inventory
from hipify_tile.analyzer.inventory_text import (
    directives,
    in_ranges,
    kernel_words,
    launch_words,
)
from hipify_tile.ir.span import Span

_NAMED = re.compile(rb"([A-Za-z_]\w*)[ \t\r\n]*\(")
_INSTANTIATION = re.compile(rb"\s*(?:extern\s+)?template\b(?!\s*<)")
_REACH = 4000
_ZERO = re.compile(r"# ?if 0")
_OPERATOR = re.compile(rb"operator\s*\Z")
_ATTRIBUTES = (b"__launch_bounds__", b"__attribute__", b"__align__", b"__maxnreg__", b"alignas",
               b"__cluster_dims__", b"__block_size__", b"__declspec", b"noexcept")  # fmt: skip


@dataclass(frozen=True, slots=True)
class LostKernel:
    """A kernel that only the text shows; ``name`` is "" when that cannot be told."""

    name: str
    span: Span


def lost_kernels(
    inventory: Inventory, skipped: dict[str, tuple[tuple[int, int], ...]]
) -> tuple[LostKernel, ...]:
    """Return the kernels that the syntax tree lacks."""
    names: dict[str, list[int]] = {}
    known = (
        *inventory.kernels.values(), *inventory.kernel_templates.values(),
        *inventory.kernel_declarations,
    )  # fmt: skip
    for cursor in known:
        file, offset = file_offset(cursor.location)
        names.setdefault(file, []).append(offset)
    lost: list[LostKernel] = []
    templates = {c.spelling.encode() for c in inventory.kernel_templates.values()}
    for file in inventory.user_files:
        text = inventory.blanked(file)
        lines = inventory.lines(file)
        ignored = (*skipped.get(file, ()), *directives(text))
        places = sorted(names.get(file, []))
        for word in kernel_words(text):
            if in_ranges(word, ignored) or _belongs(text, word, places):
                continue
            if _instantiates(text, word, templates):
                continue
            name, start, end = _name_after(text, word)
            lost.append(LostKernel(name, lines.span(file, start, end)))
    return tuple(lost)


@dataclass(frozen=True, slots=True)
class InactiveKernels:
    """Kernels of one file in code left out: the first one's ``name`` and ``span``, how many.

    ``condition`` is the directive that leaves the first one out.
    """

    name: str
    span: Span
    count: int
    condition: str


def inactive_kernels(
    inventory: Inventory, skipped: dict[str, tuple[tuple[int, int], ...]]
) -> tuple[InactiveKernels, ...]:
    """Return, a file each, the kernels left out whose names no active kernel has."""
    known = (
        *inventory.kernels.values(), *inventory.kernel_templates.values(),
        *inventory.kernel_declarations,
    )  # fmt: skip
    active = {cursor.spelling for cursor in known}
    found: list[InactiveKernels] = []
    for file in inventory.user_files:
        text = inventory.blanked(file)
        macros = directives(text)
        names: dict[str, Span] = {}
        condition = ""
        for start, end in skipped.get(file, ()):
            line_end = text.find(b"\n", start)
            directive = text[start : line_end if line_end >= 0 else end].decode("utf-8", "replace")
            directive = " ".join(directive.split())
            if _ZERO.fullmatch(directive):
                continue
            for word in kernel_words(text[start:end]):
                at = start + word
                name, first, last = _name_after(text, at)
                if not name or name in active or in_ranges(at, macros):
                    continue
                condition = condition or directive
                names.setdefault(name, inventory.lines(file).span(file, first, last))
        if names:
            name, span = next(iter(names.items()))
            found.append(InactiveKernels(name, span, len(names), condition))
    return tuple(found)


def lost_launches(
    inventory: Inventory, skipped: dict[str, tuple[tuple[int, int], ...]]
) -> tuple[Span, ...]:
    """Return the ``<<<`` in active code that belong to no launch of the syntax tree."""
    known: dict[str, list[tuple[int, int]]] = {}
    cursors = [launch.cursor for launch in inventory.launches]
    for cursor in (*cursors, *inventory.dependent_launches):
        span = inventory.spans(cursor)
        known.setdefault(span.file, []).append((span.start, span.end))
    lost: list[Span] = []
    for file in inventory.user_files:
        text = inventory.blanked(file)
        lines = inventory.lines(file)
        ignored = (*skipped.get(file, ()), *directives(text), *known.get(file, ()))
        for word in launch_words(text):
            is_operator = _OPERATOR.search(text, max(0, word - 80), word) is not None
            if not is_operator and not in_ranges(word, ignored):
                lost.append(lines.span(file, word, word + 3))
    return tuple(lost)


def _belongs(text: bytes, word: int, places: list[int]) -> bool:
    after = [place for place in places if place > word]
    return bool(after) and not any(mark in text[word : after[0]] for mark in (b";", b"{", b"}"))


def _instantiates(text: bytes, word: int, templates: set[bytes]) -> bool:
    """Whether ``word`` stands in ``template __global__ void k<float>(float*);`` of a known one."""
    begin = max(text.rfind(mark, 0, word) for mark in (b";", b"{", b"}")) + 1
    end = text.find(b";", word)
    if not _INSTANTIATION.match(text[begin:word]) or end < 0:
        return False
    return any(m.group() in templates for m in re.finditer(rb"\w+", text[word:end]))


def _name_after(text: bytes, word: int) -> tuple[str, int, int]:
    for match in _NAMED.finditer(text[word : word + _REACH]):
        if match[1] not in _ATTRIBUTES:
            return match[1].decode(), word + match.start(1), word + match.end(1)
    return "", word, word + len(b"__global__")
