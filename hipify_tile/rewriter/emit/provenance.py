"""Where an emitted kernel comes from, as the comment above its factory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from hipify_tile.ir.simt import Kernel, Param
from hipify_tile.ir.types import ScalarType

_CUDA = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long",
    "uint64": "unsigned long long", "float16": "__half", "bfloat16": "__nv_bfloat16",
    "float32": "float", "float64": "double",
}  # fmt: skip
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Provenance:
    """``position`` is ``src/saxpy.cu:12`` relative to the project, ``signature`` CUDA text."""

    file: str
    position: str
    signature: str

    @property
    def module_docstring(self) -> str:
        """Docstring of a module that holds only this kernel."""
        return f"TileLang for the CUDA kernels of {self.file}."

    def comment_lines(self) -> Iterator[str]:
        """Yield the provenance comment, wrapped."""
        yield f"# from {self.position}"
        words = f"{self.signature}".split(" ")
        line = "#"
        for word in words:
            if len(line) + 1 + len(word) > _WIDTH:
                yield line
                line = "#    "
            line += f" {word}"
        yield line


def provenance(kernel: Kernel, root: str, signature: str = "") -> Provenance:
    """Describe where ``kernel`` comes from, relative to the directory ``root``."""
    if kernel.span is None:
        return Provenance("CUDA source", "CUDA source", signature or _signature(kernel))
    path = kernel.span.file
    shown = os.path.relpath(path, root) if root else os.path.basename(path)
    shown = in_comment(shown.replace(os.sep, "/"))
    return Provenance(shown, f"{shown}:{kernel.span.line}", signature or _signature(kernel))


def in_comment(path: str) -> str:
    """Return ``path`` fit for a comment or docstring: nothing in it can end or escape one."""
    return "".join(c if c.isprintable() and c not in '\\"' else "?" for c in path)


def _signature(kernel: Kernel) -> str:
    return f"__global__ void {kernel.name}({', '.join(map(_param, kernel.params))})"


def _param(param: Param) -> str:
    name = param.source_name or param.name
    spelled = _spelled(param.dtype)
    if not param.pointer:
        return f"{spelled} {name}"
    return f"{'const ' if param.const else ''}{spelled}* {name}"


def _spelled(dtype: ScalarType) -> str:
    return _CUDA[str(dtype)]
