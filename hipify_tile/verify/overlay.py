"""A copy of a unit's source files in which pure host functions have empty bodies.

``int main() { k<<<g, b>>>(p); }  →  int main() { __builtin_trap(); }`` (line numbers stay).
Host bodies hold what only nvcc can compile; kernels and all they use are left byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hipify_tile.analyzer.model import CompileUnit, UnitAnalysis
from hipify_tile.ir.span import Span

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif|define|undef)\b")
_BRACKETS = re.compile(
    rb"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|[(){};]""", re.S
)
_PATH_FLAGS = ("-I", "-iquote", "-isystem", "-idirafter")


@dataclass(frozen=True, slots=True)
class Overlay:
    """Overlaid files by original path. Paths inside it start with ``PLACEHOLDER`` until written."""

    PLACEHOLDER: ClassVar[str] = "@overlay@"
    files: tuple[tuple[str, bytes], ...]
    line_counts: tuple[tuple[Span, int], ...] = ()

    @classmethod
    def of(cls, analysis: UnitAnalysis, blanked: Sequence[Span]) -> Overlay:
        """The overlay of a unit; ``blanked`` are kernels whose bodies are emptied too."""
        ranges: dict[str, list[tuple[int, int]]] = {}
        for host in analysis.host_bodies:
            ranges.setdefault(host.file, []).append((host.start, host.end))
        files = []
        contents: dict[str, bytes] = {}
        for name in dict.fromkeys((analysis.unit.path, *analysis.user_files)):
            contents[name] = Path(name).read_bytes()
        for span in blanked:
            data = contents.get(span.file)
            if data is None or span.in_macro:
                continue
            body = _body_range(data, span.start)
            if body is not None:
                ranges.setdefault(span.file, []).append(body)
        for name, data in contents.items():
            files.append((name, _emptied(data, ranges.get(name, []))))
        counts = []
        for kernel in analysis.kernels:
            data = contents.get(kernel.span.file, b"")
            body = _body_range(data, kernel.span.start)
            if body is not None:
                counts.append((kernel.span, data.count(b"\n", kernel.span.start, body[1])))
        return cls(tuple(files), tuple(counts))

    def twin(self, path: str) -> str:
        """Where a file's copy will be."""
        return self.PLACEHOLDER + os.path.abspath(path)

    def original(self, path: str) -> str:
        """The original of a path that a compiler message names."""
        marker = "overlay/"
        at = path.find(marker)
        return path[at + len(marker) - 1 :] if at >= 0 else path

    def newlines(self, span: Span) -> int:
        """How many line ends lie between a kernel's span and the end of its body; -1 unknown."""
        return next((count for known, count in self.line_counts if known == span), -1)

    def fingerprint(self) -> str:
        """Hash of all paths and contents."""
        digest = hashlib.sha256()
        for name, data in self.files:
            digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + data + b"\0")
        return digest.hexdigest()

    def compile_args(self, unit: CompileUnit) -> tuple[str, ...]:
        """The unit's parsing flags for g++; include paths follow their overlay twins."""
        folders = {os.path.dirname(name) for name, _ in self.files}
        out: list[str] = []
        arguments = list(unit.args)
        while arguments:
            arg = arguments.pop(0)
            flag = next((f for f in _PATH_FLAGS if arg.startswith(f)), None)
            if flag is not None:
                value = arg[len(flag) :] or (arguments.pop(0) if arguments else ".")
                path = os.path.normpath(os.path.join(unit.directory or "/", value))
                if any(f == path or f.startswith(path.rstrip("/") + "/") for f in folders):
                    out += [flag, self.twin(path)]
                out += [flag, path]
            elif arg in ("-D", "-U", "-include") and arguments:
                value = arguments.pop(0)
                if arg == "-include":
                    path = os.path.normpath(os.path.join(unit.directory or "/", value))
                    known = any(name == path for name, _ in self.files)
                    value = self.twin(path) if known else path if os.path.exists(path) else value
                out += [arg, value]
            elif arg.startswith(("-D", "-U")):
                out.append(arg)
        # Relative includes of files that were not copied start at the original's folder.
        for folder in sorted(folders):
            out += ["-idirafter", folder]
        return tuple(out)


def write_overlay(overlay: Overlay, folder: Path) -> Path:
    """Write the copies below ``folder`` and return their root."""
    root = folder / "overlay"
    for name, data in overlay.files:
        path = Path(str(root) + os.path.abspath(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def _emptied(data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """Replace the inside of each outermost ``{...}`` range by a trap, keeping its line ends."""
    out = bytearray()
    at = 0
    for start, end in sorted(ranges):
        if start < at or data[start : start + 1] != b"{" or data[end - 1 : end] != b"}":
            continue
        out += data[at:start] + b"{ __builtin_trap(); "
        out += _directives_only(data[start + 1 : end - 1])
        out += b"}"
        at = end
    return bytes(out + data[at:])


def _directives_only(body: bytes) -> bytes:
    """The body's line ends, and its conditional and macro directives (they may span its end)."""
    out = bytearray()
    in_comment = continued = False
    for line in body.splitlines(keepends=True):
        ending = line[len(line.rstrip(b"\r\n")) :]
        text = line[: len(line) - len(ending)]
        if continued or (not in_comment and _DIRECTIVE.match(text)):
            out += text
            continued = text.endswith(b"\\")
        else:
            in_comment = _ends_in_comment(text, in_comment)
        out += ending
    return bytes(out)


def _ends_in_comment(line: bytes, inside: bool) -> bool:
    for token in re.findall(rb'/\*|\*/|//|"(?:\\.|[^"\\])*"', line):
        if inside:
            inside = token != b"*/"
        elif token == b"//":
            return False
        elif token == b"/*":
            inside = True
    return inside


def _body_range(data: bytes, start: int) -> tuple[int, int] | None:
    """The ``{...}`` of the function whose declaration or name is at ``start``, or None."""
    parentheses = braces = 0
    opening = None
    for match in _BRACKETS.finditer(data, start):
        match match.group():
            case b"(":
                parentheses += 1
            case b")":
                parentheses -= 1
            case b"{" if parentheses == 0 or opening is not None:
                opening = match.start() if opening is None else opening
                braces += 1
            case b"}" if opening is not None:
                braces -= 1
                if braces == 0:
                    return opening, match.end()
            case b";" if opening is None and parentheses == 0:
                return None
            case _:
                pass
    return None
