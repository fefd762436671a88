"""Many lowered mutants of one emission compiled by few runs of the compiler."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import Emission
from hipify_tile.verify.lowering import (
    C_FLAGS,
    Lowered,
    precompiled_headers,
    tilelang_include,
    trampoline,
)
from hipify_tile.verify.rewrites import Key, Rewritten, _Build

_BATCH = 16


class Prebuilt(Rewritten):
    """A rewrite whose builds for some keys exist already."""

    def __init__(
        self,
        kernel: Kernel,
        emission: Emission,
        cache: Path,
        builds: dict[Key, tuple[Lowered, int]],
        time_limit_ms: int,
    ) -> None:
        super().__init__(kernel, emission, cache, time_limit_ms)
        self._builds = {k: _Build(low, entry, None) for k, (low, entry) in builds.items()}

    def _build(self, key: Key) -> _Build | tuple[Diagnostic, ...]:
        return super()._build(key)


def compiled(lowered: Sequence[Lowered], cache: Path) -> list[int | None]:
    """The entry of each program, None for one that the compiler rejects."""
    out: list[int | None] = []
    for start in range(0, len(lowered), _BATCH):
        out.extend(_batch(lowered[start : start + _BATCH], cache))
    return out


def _batch(lowered: Sequence[Lowered], cache: Path) -> list[int | None]:
    includes: dict[str, None] = {}
    parts: list[str] = []
    for number, low in enumerate(lowered):
        lines = low.source.splitlines()
        includes |= dict.fromkeys(x for x in lines if x.startswith("#include"))
        body = "\n".join(x for x in lines if not x.startswith("#include"))
        text = (body + trampoline(low)).replace(low.entry, f"{low.entry}_{number}")
        parts.append(
            f"namespace m{number} {{\n{text.replace('tm_entry', f'tm_entry_{number}')}\n}}"
        )
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        source, library = Path(scratch) / "mutants.cpp", Path(scratch) / "mutants.so"
        source.write_text("\n".join([*includes, *parts]), encoding="utf-8")
        include = (f"-I{precompiled_headers(cache, 'g++')}", f"-I{tilelang_include()}")
        command = ["g++", *C_FLAGS, *include, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            loaded = ctypes.CDLL(str(library))
            entries = [getattr(loaded, f"tm_entry_{i}") for i in range(len(lowered))]
            return [ctypes.cast(e, ctypes.c_void_p).value for e in entries]
    if len(lowered) == 1:
        return [None]
    middle = len(lowered) // 2
    return [*_batch(lowered[:middle], cache), *_batch(lowered[middle:], cache)]
