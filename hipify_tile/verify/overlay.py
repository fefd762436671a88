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
        for body in analysis.host_bodies:
            ranges.setdefault(body.file, []).append((body.start, body.end))
        files = []
        contents: dict[str, bytes] = {}
        for name in dict.fromkeys((analysis.unit.path, *analysis.user_files)):
            contents[name] = Path(name).read_bytes()
        for span in blanked:
            data = contents.get(span.file)
            if data is None or span.in_macro:
                continue
            opening = _body_start(data[span.start : span.end])
            if opening is not None:
                ranges.setdefault(span.file, []).append((span.start + opening, span.end))
        for name, data in contents.items():
            files.append((name, _emptied(data, ranges.get(name, []))))
        counts = tuple(
            (k.span, contents.get(k.span.file, b"")[k.span.start : k.span.end].count(b"\n"))
            for k in analysis.kernels
        )
        return cls(tuple(files), counts)

    def twin(self, path: str) -> str:
        """Where a file's copy will be."""
        return self.PLACEHOLDER + os.path.abspath(path)

    def original(self, path: str) -> str:
        """The original of a path that a compiler message names."""
        marker = "overlay/"
        at = path.find(marker)
        return path[at + len(marker) - 1 :] if at >= 0 else path

    def newlines(self, span: Span) -> int:
        """How many line ends a kernel's source has."""
        return next((count for known, count in self.line_counts if known == span), 0)

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


def _body_start(text: bytes) -> int | None:
    """Offset of the brace that opens a function's body: the first one outside parentheses."""
    depth = 0
    for match in re.finditer(rb'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|[(){]', text, re.S):
        match match.group():
            case b"(":
                depth += 1
            case b")":
                depth -= 1
            case b"{" if depth == 0:
                return match.start()
            case _:
                pass
    return None
