"""Lexical scan of CUDA source bytes: what a file mentions, without parsing it.

Finds words outside comments and literals, include directives and kernel-like text. It is the
cross-check of the syntax tree (what the tree did not account for is reported) and the way to
classify files before any parse. It resolves nothing and expands no macro.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hipify_tile.ir.span import Span

_SKIP = re.compile(
    rb"""
      //(?:[^\n\\]|\\\r?\n|\\.)*                               # line comment, with splices
    | /\*.*?(?:\*/|\Z)                                         # block comment
    | \b(?:u8|u|U|L)?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"   # raw string
    | "(?:[^"\\\n]|\\.)*(?:"|(?=\n)|\Z)                         # string
    | (?<![0-9A-Za-z_])(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+'         # character, not a digit separator
    """,
    re.VERBOSE | re.DOTALL,
)
_NOT_NEWLINE = re.compile(rb"[^\r\n]")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_GLOBAL = re.compile(rb"\b__global__\b")
_LAUNCH = re.compile(rb"<<<")
_APART = re.compile(rb"(?<![<>])(?:<<([ \t]+)<(?!<)|>>([ \t]+)>(?!>))")
_OPENED_APART = re.compile(rb"(?<!<)<<[ \t]+<(?!<)")
_DEVICE = re.compile(rb"\b(?:__global__|__device__|__shared__|__constant__)\b")
_API = re.compile(
    rb"\b(?:cuda|cublas|cublasLt|nccl|curand|cufft|cusparse|cusolver|cudnn)[A-Z]\w*\s*\("
    rb"|\b(?:thrust|cub)::"
)


def blank(source: bytes) -> bytes:
    """Return ``source``, same length and lines, with comments and literals turned to spaces.

    Launches are joined.
    """
    return _blank(joined(source))


def _blank(source: bytes) -> bytes:
    return _SKIP.sub(lambda m: _NOT_NEWLINE.sub(b" ", m.group()), source)


def joined(source: bytes) -> bytes:
    """Return ``source``, same length, with launches that are spelled apart as clang reads them.

    ``k << <g, b >> >(x)``, as some formatters write, → ``k <<< g, b >>> (x)``.
    """
    if _OPENED_APART.search(source) is None:
        return source
    code = _blank(source)
    result = bytearray(source)
    for match in _APART.finditer(source):
        start, end = match.span()
        if code[start:end] == match.group():
            result[start:end] = match.group().translate(None, b" \t") + (match[1] or match[2])
    return bytes(result)


@dataclass(frozen=True, slots=True)
class Include:
    """An include directive: the name as written, and whether it was quoted."""

    name: str
    quoted: bool


def includes(source: bytes) -> Iterator[Include]:
    """Yield the include directives of ``source``, those in inactive branches too."""
    for match in _INCLUDE.finditer(source):
        quoted = match[1] is not None
        yield Include((match[1] if quoted else match[2]).decode("utf-8", "surrogateescape"), quoted)


def include_folders(args: tuple[str, ...]) -> list[str]:
    """Return the include folders of clang-ready arguments, in order."""
    folders: list[str] = []
    it = iter(args)
    for arg in it:
        if arg in ("-isystem", "-iquote", "-idirafter"):
            folders.append(next(it, ""))
        elif arg.startswith("-I"):
            folders.append(arg[2:] or next(it, ""))
    return folders


def is_binary(source: bytes) -> bool:
    """Whether ``source`` cannot be C++ text (it holds NUL bytes, as images and UTF-16 do)."""
    return b"\0" in source


def has_kernels(blanked: bytes) -> bool:
    """Whether blanked text contains the word ``__global__``."""
    return _GLOBAL.search(blanked) is not None


def has_device_code(blanked: bytes) -> bool:
    """Whether blanked text contains a CUDA execution or memory space specifier, or a launch."""
    return _DEVICE.search(blanked) is not None or _LAUNCH.search(blanked) is not None


def mentions_library(blanked: bytes) -> bool:
    """Whether blanked text calls a CUDA runtime or library function."""
    return _API.search(blanked) is not None


def kernel_words(blanked: bytes) -> tuple[int, ...]:
    """Return the byte offsets of ``__global__``."""
    return tuple(m.start() for m in _GLOBAL.finditer(blanked))


def launch_words(blanked: bytes) -> tuple[int, ...]:
    """Return the byte offsets of ``<<<``."""
    return tuple(m.start() for m in _LAUNCH.finditer(blanked))


def directives(blanked: bytes) -> tuple[tuple[int, int], ...]:
    """Return the byte ranges of preprocessor directives, macro definitions with all their lines."""
    return tuple(m.span() for m in _DIRECTIVE.finditer(blanked))


def in_ranges(offset: int, ranges: Iterable[tuple[int, int]]) -> bool:
    """Whether one of the half-open ``ranges`` holds ``offset``."""
    return any(start <= offset < end for start, end in ranges)


class Lines:
    """Maps byte offsets of one file to 1-based lines and byte columns."""

    def __init__(self, source: bytes) -> None:
        """Index the line starts of ``source``."""
        self._starts = [0, *(m.end() for m in re.finditer(rb"\n", source))]

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of ``offset``."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, file: str, start: int, end: int) -> Span:
        """Return the span of bytes [start, end) of ``file``."""
        line, column = self.position(start)
        return Span(file, line, column, start, end)
