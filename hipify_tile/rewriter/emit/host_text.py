"""Lexical places in blanked CUDA text (no comments, no literals): launches, kernels, shared arrays.

``k<T, N><<<g, b>>>(x)``: where the callee starts, the configuration and the arguments lie. It works
on macro definitions, inactive branches and templates alike, for which no syntax tree exists. It
knows brackets and words only; what does not fit is returned as None or left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hipify_tile.analyzer.inventory_text import directives

_WORD = re.compile(rb"[A-Za-z_]\w*")
_WORD_AT_END = re.compile(rb"[A-Za-z_]\w*\Z")
_SPACE_AT_END = re.compile(rb"(?:\s|\\\r?\n)+\Z")
_SPACE = re.compile(rb"(?:\s|\\(?=\r?\n))*")
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?")
_OPERATOR = re.compile(rb"operator\s*\Z")
_PAIRS = {b"(": b")", b"[": b"]", b"{": b"}"}
_KEYWORDS = frozenset(
    (b"if", b"while", b"for", b"switch", b"return", b"else", b"do", b"case", b"throw", b"goto")
)
_SHARED = re.compile(rb"\b__shared__\b")
_ASM = re.compile(rb"\b(?:asm|__asm__|__asm)\b(?:\s*(?:volatile|__volatile__|goto))?\s*\(")
_EXTERN = re.compile(rb"\bextern\b")
_DECLARATOR = re.compile(
    rb"(?P<type>.*?)(?P<name>[A-Za-z_]\w*(?:\s*##\s*\w+)*)\s*(?P<first>\[[^\]]*\])?(?P<more>(?:\s*\[[^\]]*\])*)\s*\Z",
    re.DOTALL,
)
_ATTRIBUTE_WORDS = frozenset(
    (b"__launch_bounds__", b"__attribute__", b"__align__", b"__maxnreg__", b"alignas",
     b"__cluster_dims__", b"__block_size__", b"__declspec", b"noexcept")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LaunchText:
    """Byte offsets of ``callee<<<…>>>(…)``.

    ``callee`` is where the callee begins, None where the text in front of ``<<<`` (at ``open``) is
    no callee. ``close`` is at ``>>>``, ``arguments`` at the ``(`` after it (None: not there),
    ``end`` behind everything.
    """

    callee: int | None
    open: int
    close: int
    arguments: int | None
    end: int


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel definition in a macro or an inactive branch: name, ``{`` and parameter names."""

    name: str
    body: int
    parameters: tuple[str, ...]
    packs: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class SharedText:
    """``extern __shared__ T name[]dimensions;`` at bytes [start, end), the ``;`` left out."""

    start: int
    end: int
    type: str
    name: str
    array: bool
    dimensions: str


def launches(text: bytes, macros: tuple[tuple[int, int], ...]) -> Iterator[LaunchText | int]:
    """Yield each launch; an offset where ``<<<`` has no end that can be told."""
    for match in re.finditer(rb"<<<", text):
        at = match.start()
        if _OPERATOR.search(text, max(0, at - 80), at):
            continue
        low, high = _bounds(text, at, macros)
        close = _configuration_end(text, at + 3, high)
        if close is None:
            yield at
            continue
        callee = _callee(text, at, low)
        after = _skip(text, close + 3, high)
        end = matching(text, after, high) if text[after : after + 1] == b"(" else None
        yield LaunchText(callee, at, close, after if end is not None else None, end or close + 3)


def kernels(text: bytes, macros: tuple[tuple[int, int], ...]) -> Iterator[KernelText | int]:
    """Yield the definitions after each ``__global__``; an offset where that cannot be read."""
    for match in re.finditer(rb"\b__global__\b", text):
        low, high = _bounds(text, match.start(), macros)
        found = _kernel(text, match.end(), high)
        if found is not None:
            yield found
        elif low and _defines_body(text, match.end(), high):
            yield match.start()


def kernel_macros(texts: Iterable[bytes]) -> frozenset[bytes]:
    """Return the macros of blanked ``texts`` that define kernels, themselves or by other macros."""
    used: dict[bytes, set[bytes]] = {}
    found: set[bytes] = set()
    for text in texts:
        ranges = directives(text)
        for start, end in ranges:
            head = _DEFINE.match(text, start)
            if head is not None:
                name = head[1]
                used.setdefault(name, set()).update(_WORD.findall(text, head.end(), end))
        for kernel in kernels(text, ranges):
            if isinstance(kernel, KernelText):
                found |= {
                    head[1]
                    for start, end in ranges
                    if start <= kernel.body < end and (head := _DEFINE.match(text, start))
                }
    while more := {n for n, words in used.items() if n not in found and words & found}:
        found |= more
    return frozenset(found)


def word_at(text: bytes, at: int) -> bytes:
    """Return the identifier at offset ``at``, empty if there is none."""
    found = _WORD.match(text, at)
    return found.group() if found else b""


def shared_arrays(text: bytes, macros: tuple[tuple[int, int], ...]) -> Iterator[SharedText | int]:
    """Yield the declarations of dynamic shared memory; an offset where one is not understood."""
    for match in _SHARED.finditer(text):
        low, high = _bounds(text, match.start(), macros)
        start = max(low - 1, *(text.rfind(mark, low, match.start()) for mark in b";{}")) + 1
        end = text.find(b";", match.end(), high)
        if end < 0 and low:  # the `;` stands where the macro is used
            end = match.end() + len(text[match.end() : high].rstrip())
        if end < 0:
            continue
        statement = text[start:end]
        word = _EXTERN.search(statement)
        if word is None:
            continue
        begin = start + min(word.start(), match.start() - start)
        if re.search(rb"[{}]|(?<!#)#(?!#)", text[begin:end]):
            yield begin
            continue
        body = re.sub(rb"\b(?:extern|__shared__|static)\b|\\\r?\n", b" ", text[begin:end])
        parts = _DECLARATOR.fullmatch(body.strip())
        if parts is None or b"," in re.sub(rb"<.*>|\(.*?\)", b"", parts["type"]):
            yield begin
            continue
        yield SharedText(
            begin,
            end,
            b" ".join(parts["type"].split()).decode("latin-1"),
            parts["name"].decode(),
            parts["first"] is not None,
            b"".join(parts["more"].split()).decode("latin-1"),
        )


def assembly(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of ``asm volatile (…)``."""
    for match in _ASM.finditer(text):
        end = matching(text, match.end() - 1, len(text))
        if end is not None:
            yield match.start(), end


def matching(text: bytes, at: int, high: int) -> int | None:
    """Return the offset behind the bracket that closes the one at ``at``; None if there is none."""
    stack: list[bytes] = []
    for i in range(at, high):
        char = text[i : i + 1]
        if char in _PAIRS:
            stack.append(_PAIRS[char])
        elif char in (b")", b"]", b"}"):
            if not stack or stack.pop() != char:
                return None
            if not stack:
                return i + 1
    return None


def launch_bounds(text: bytes, body: int) -> str:
    """Return the first argument of ``__launch_bounds__`` in front of a kernel's ``{``, or ""."""
    begin = text.rfind(b"__global__", 0, body)
    begin = max(text.rfind(c, 0, max(begin, 0)) for c in (b";", b"}", b"{"))
    found = re.search(rb"__launch_bounds__\s*\(", text[max(begin, 0) : body])
    if found is None:
        return ""
    start = max(begin, 0) + found.end()
    depth = 0
    for i in range(start, body):
        char = text[i : i + 1]
        if depth == 0 and char in (b",", b")"):
            return " ".join(text[start:i].decode("latin-1").split())
        depth += (char in (b"(", b"[", b"{")) - (char in (b")", b"]", b"}"))
    return ""


def explicit_arguments(text: bytes, at: int) -> str:
    """Return ``<float>`` where a template argument list follows offset ``at``, else ""."""
    at = _skip(text, at, len(text))
    if text[at : at + 1] != b"<":
        return ""
    depth = 0
    for i in range(at, len(text)):
        char = text[i : i + 1]
        depth += (char == b"<") - (char == b">" and text[i - 1 : i] != b"-")
        if depth == 0:
            return text[at : i + 1].decode("latin-1")
        if char in (b"{", b";"):
            break
    return ""


def _bounds(text: bytes, at: int, macros: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """The part of the text that a construct at ``at`` can reach: a macro's body, or all."""
    for start, end in macros:
        if start <= at < end:
            head = _DEFINE.match(text, start)
            return (head.end() if head else start), end
    return 0, len(text)


def _skip(text: bytes, at: int, high: int) -> int:
    found = _SPACE.match(text, at, high)
    return found.end() if found else at


def _configuration_end(text: bytes, at: int, high: int) -> int | None:
    """The ``>>>`` of a launch: the last one before the statement's end that arguments follow."""
    depth = 0
    first = called = None
    for i in range(at, high):
        char = text[i : i + 1]
        if char in _PAIRS:
            depth += 1
        elif char in (b")", b"]", b"}"):
            depth -= 1
        if depth < 0 or (depth == 0 and (char == b";" or text[i : i + 3] == b"<<<")):
            break
        if depth == 0 and text[i : i + 3] == b">>>":
            first = i if first is None else first
            after = _skip(text, i + 3, high)
            if text[after : after + 1] == b"(":
                called = i
    return first if called is None else called


def _callee(text: bytes, at: int, low: int) -> int | None:
    """Where the postfix expression that ends at ``at`` begins."""
    start: int | None = None
    at = _before(text, at, low)
    while at > low:
        char = text[at - 1 : at]
        if char == b">" and text[at - 2 : at - 1] != b"-":
            opened = _opening_angle(text, at, low)
            if opened is None:
                return start
            at = _before(text, opened, low)
            continue
        if char in (b")", b"]"):
            opened = _opening(text, at, low)
            if opened is None:
                return start
            before = _before(text, opened, low)
            word = _WORD_AT_END.search(text, low, before)
            called = (word is not None and word.group() not in _KEYWORDS) or (
                text[before - 1 : before] in (b")", b"]", b">") and before > low
            )
            if called and not (word is None and _closes_condition(text, before, low)):
                at = before
                continue
            if char == b"]":
                return start
            start = opened
        else:
            word = _WORD_AT_END.search(text, low, at)
            if word is None or word.group() in _KEYWORDS:
                return start
            start = word.start()
        at = _before(text, start, low)
        connector = next((c for c in (b"::", b"->", b"##", b".") if text[low:at].endswith(c)), None)
        if connector is None:
            if text[low:at].endswith(b"template"):
                at = _before(text, at - len(b"template"), low)
                connector = next((c for c in (b"::", b"->", b".") if text[low:at].endswith(c)), b"")
            if not connector:
                return start
        at -= len(connector)
        previous = _before(text, at, low)
        if connector == b"::":
            start = at
            if not re.search(rb"[\w>]\Z", text[low:previous]) or _ends_with_keyword(
                text, previous, low
            ):
                return start
        at = previous
    return start


def _ends_with_keyword(text: bytes, at: int, low: int) -> bool:
    word = _WORD_AT_END.search(text, low, at)
    return word is not None and word.group() in _KEYWORDS


def _closes_condition(text: bytes, at: int, low: int) -> bool:
    """Whether the ``)`` that ends at ``at`` belongs to ``if (…)`` and the like."""
    if text[at - 1 : at] != b")":
        return False
    opened = _opening(text, at, low)
    if opened is None:
        return True
    return _ends_with_keyword(text, _before(text, opened, low), low)


def _before(text: bytes, at: int, low: int) -> int:
    found = _SPACE_AT_END.search(text[max(low, at - 400) : at])
    return at - len(found.group()) if found else at


def _opening(text: bytes, end: int, low: int) -> int | None:
    depth = 0
    for i in range(end - 1, low - 1, -1):
        char = text[i : i + 1]
        if char in (b")", b"]", b"}"):
            depth += 1
        elif char in _PAIRS:
            depth -= 1
            if depth == 0:
                return i
    return None


def _opening_angle(text: bytes, end: int, low: int) -> int | None:
    depth = 0
    i = end - 1
    while i >= low:
        char = text[i : i + 1]
        if char == b">" and text[i - 1 : i] != b"-":
            depth += 1
        elif char == b"<":
            depth -= 1
            if depth == 0:
                return i
        elif char in (b")", b"]", b"}"):
            opened = _opening(text, i + 1, low)
            if opened is None:
                return None
            i = opened
        elif char in (b";", b"{", b"("):
            return None
        i -= 1
    return None


def _kernel(text: bytes, at: int, high: int) -> KernelText | None:
    """Read ``void name<…>(parameters) {`` after ``__global__``."""
    name = b""
    while True:
        at = _skip(text, at, high)
        char = text[at : at + 1]
        word = _WORD.match(text, at, high)
        if word is not None:
            name, at = word.group(), word.end()
        elif text[at : at + 2] in (b"::", b"##"):
            at += 2
        elif char in (b"*", b"&"):
            at += 1
        elif char == b"<":
            arguments = explicit_arguments(text, at)
            if not arguments:
                return None
            at += len(arguments)
        elif char == b"(":
            end = matching(text, at, high)
            if end is None:
                return None
            if name in _ATTRIBUTE_WORDS:
                at = end
                continue
            body = _skip(text, end, high)
            if text[body : body + 1] != b"{" or not name:
                return None
            parameters = _parameters(text[at + 1 : end - 1])
            if parameters is None:
                return None
            names, packs = parameters
            return KernelText(name.decode(), body, names, packs)
        else:
            return None


def _defines_body(text: bytes, at: int, high: int) -> bool:
    brace, semicolon = text.find(b"{", at, high), text.find(b";", at, high)
    return brace >= 0 and (semicolon < 0 or brace < semicolon)


def _parameters(text: bytes) -> tuple[tuple[str, ...], tuple[bool, ...]] | None:
    """Names of a parameter list, None where one has none or is not understood."""
    names: list[str] = []
    packs: list[bool] = []
    for part in _split(text):
        part = re.sub(rb"\\\r?\n", b" ", part).split(b"=")[0].strip()
        if not part or part == b"void":
            continue
        inner = re.search(rb"\(\s*\*\s*(?:const\s*)?(\w+)", part)
        match = inner or re.search(rb"[\s*&>.](\w+)\s*(?:\[[^\]]*\]\s*)*\Z", part)
        if match is None:
            return None
        names.append(match[1].decode())
        packs.append(b"..." in part)
    return tuple(names), tuple(packs)


def _split(text: bytes) -> Iterator[bytes]:
    depth, start = 0, 0
    for i in range(len(text)):
        char = text[i : i + 1]
        if char in (b"(", b"[", b"{", b"<"):
            depth += 1
        elif char in (b")", b"]", b"}", b">"):
            depth -= 1
        elif char == b"," and depth == 0:
            yield text[start:i]
            start = i + 1
    yield text[start:]
