"""Lines of a source file for display: any bytes, any line ending, tabs expanded.

Never a source of truth: spans are byte offsets into the file as it is on disk.
"""

from __future__ import annotations

from dataclasses import dataclass

TAB = 4


@dataclass(frozen=True, slots=True)
class SourceLines:
    """The lines of a file as bytes, without line endings."""

    lines: tuple[bytes, ...]

    @classmethod
    def read(cls, path: str) -> SourceLines | None:
        """Read ``path``; None if it cannot be read."""
        try:
            with open(path, "rb") as stream:
                raw = stream.read()
        except OSError:
            return None
        return cls(tuple(line.removesuffix(b"\r") for line in raw.split(b"\n")))

    def text(self, line: int) -> str:
        """Return the 1-based ``line`` for display, empty if there is no such line."""
        return _display(self._bytes(line))

    def width(self, line: int, column: int) -> int:
        """Return how many display columns precede the 1-based byte ``column`` of ``line``."""
        return len(_display(self._bytes(line)[: max(column - 1, 0)]))

    def length(self, line: int) -> int:
        """Return the number of bytes in ``line``."""
        return len(self._bytes(line))

    def _bytes(self, line: int) -> bytes:
        raw = self.lines[line - 1] if 1 <= line <= len(self.lines) else b""
        return raw.removeprefix(b"\xef\xbb\xbf") if line == 1 else raw


def decode(raw: bytes) -> str:
    """Decode UTF-8, or Latin-1 where that fails (every byte has a meaning there)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _display(raw: bytes) -> str:
    out: list[str] = []
    for char in decode(raw):
        if char == "\t":
            out.append(" " * (TAB - len("".join(out)) % TAB))
        else:
            out.append(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}")
    return "".join(out)
