"""Migrated kernels for a GPU: emissions lowered to CUDA, with plain C entries, for nvcc.

    extern "C" __global__ void k_kernel(…)  →  the same as tm_device_…, and
                                               int tm_kernel_…(const tm_launch *, void **arguments)

The text defines and registers an entry a kernel and level. An entry takes the arguments of the CUDA
kernel and launches TileLang's kernel through ``tm_gpu_launch``; outside what was lowered (another
block at level ``simt``, more shared memory, broken launch conditions) it returns
``TM_NOT_APPLICABLE`` with nothing launched. Nothing is compiled here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hipify_tile.build.arguments import NoObjectError, element_name, registration, unpacked
from hipify_tile.build.extents import SUPPORT, ExtentError, c_extent
from hipify_tile.build.objects import entry_name
from hipify_tile.ir.simt import Kernel
from hipify_tile.rewriter.model import ArgumentRole, Emission, Level
from hipify_tile.verify.lowering import Lowered, lower

LEVELS = (Level.TILE, Level.SIMT)
"""Levels that a GPU runs in parallel; a block of level ``loop`` is one thread."""

_KINDS = {Level.TILE: "TM_KIND_TILE", Level.SIMT: "TM_KIND_SIMT"}
_TYPES = {
    "bool": "bool", "float32": "float", "float64": "double", "float16": "uint16_t",
    "bfloat16": "uint16_t",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """A launch that a kernel is lowered for: threads a block, and at most so much shared memory."""

    block: tuple[int, int, int]
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """CUDA text of one kernel at one level.

    ``preamble`` are TileLang's includes, equal for many kernels; ``text`` follows it and defines
    ``entry``. Texts of several kernels can stand in one file.
    """

    preamble: str
    text: str
    entry: str


def device_code(
    kernel: Kernel,
    emission: Emission,
    shapes: Sequence[Shape],
    *,
    arch: str,
    source: str = "",
    private: str = "",
) -> DeviceCode:
    """Lower ``emission`` for each of ``shapes`` and return the text.

    ``arch`` is nvcc's (``sm_90``), ``source`` the kernel's ``path:line``, ``private`` tells kernels
    of one mangled name apart. Raises ``NoObjectError`` and ``LoweringError``.
    """
    if emission.level not in LEVELS:
        raise NoObjectError("at level loop a block is one thread of the GPU")
    entry = entry_name(kernel.mangled, emission.level, private)
    bodies: list[str] = []
    setups: list[str] = []
    preamble = ""
    for number, shape in enumerate(_distinct(shapes, emission)):
        options = {"block": shape.block, "shared_bytes": shape.shared_bytes, "arch": arch}
        lowered = lower(emission, "cuda", options)
        name = f"tm_device_{entry.removeprefix('tm_kernel_')}_{number}"
        head, body = _split(lowered.source)
        preamble = head if head in preamble else preamble + head
        body = re.sub(rf"\b{re.escape(lowered.entry)}\b", name, body)
        bodies += [f"namespace shape{number} {{", body, "}"]  # with helper functions of its own
        setups += _variant(kernel, emission, lowered, shape, f"shape{number}::{name}")
    text = [
        f"namespace tm_of_{entry} {{",
        SUPPORT,
        *bodies,
        f'extern "C" int {entry}(const tm_launch *tm_self, void **tm_arguments) {{',
        *setups,
        "  return TM_NOT_APPLICABLE;",
        "}",
        *registration(kernel, _KINDS[emission.level], entry, source),
        *_described(kernel),
        f"}}  // namespace tm_of_{entry}",
    ]
    return DeviceCode(preamble, "\n".join(text) + "\n", entry)


def file_text(codes: Sequence[DeviceCode]) -> str:
    """Return the text of one CUDA file that holds all of ``codes``."""
    heads = list(dict.fromkeys(code.preamble for code in codes))
    includes = ["#include <stdint.h>", "#include <string.h>", '#include "tm_launch_cuda.h"']
    return "\n".join([*heads, *includes, *(code.text for code in codes)])


def _distinct(shapes: Sequence[Shape], emission: Emission) -> list[Shape]:
    """Those that the emission can tell apart; the least shared memory comes first."""
    blocks, shared = "block" in emission.options, "shared_bytes" in emission.options
    seen = {
        Shape(s.block if blocks else (1, 1, 1), s.shared_bytes if shared else 0): None
        for s in sorted(shapes, key=lambda s: s.shared_bytes)
    }
    return list(seen)


def _split(source: str) -> tuple[str, str]:
    """The preprocessor lines that begin a lowered source, and the rest."""
    lines = source.splitlines()
    at = 0
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith("#")):
        at += 1
    return "\n".join(lines[:at]) + "\n", "\n".join(lines[at:]) + "\n"


def _variant(
    kernel: Kernel, emission: Emission, lowered: Lowered, shape: Shape, name: str
) -> list[str]:
    """Statements that launch one lowered kernel and return, if it is the one for this launch."""
    types = {
        p.name: "void *" if p.is_pointer else _TYPES.get(p.dtype, f"{p.dtype}_t")
        for p in lowered.parameters
    }
    setup, checks = unpacked(kernel, emission, lowered, types, shape.shared_bytes, _symbol_address)
    fits = [f"tm_self->block[{i}] == {n}" for i, n in enumerate(shape.block)]
    checks = [*(fits if "block" in emission.options else ()), *checks]
    known = {a.name for a in emission.arguments}
    for argument in emission.arguments:
        if argument.role is ArgumentRole.GLOBAL and argument.name in types:
            checks.append(f"{argument.name} != nullptr")
    for p in lowered.parameters:
        if p.name not in known:  # an extent: unknown where the memory is no allocation
            checks.append(f"{p.name} > 0")
    grid, block = ([*_extents(lowered, kind, setup)] for kind in ("blockIdx", "threadIdx"))
    shared, _ = _extent(lowered.dynamic_shared, setup)
    values = ", ".join(f"(void *)&{p.name}" for p in lowered.parameters) or "nullptr"
    return [
        "  {",
        *setup,
        f"  if ({' && '.join(f'({c})' for c in checks) or 'true'}) {{",
        f"    const int64_t tm_grid[3] = {{{', '.join(grid)}}};",
        f"    const int64_t tm_block[3] = {{{', '.join(block)}}};",
        f"    void *tm_values[] = {{{values}}};",
        f"    return tm_gpu_launch(tm_self, (const void *){name}, tm_grid, tm_block, "
        f"(uint64_t)({shared}), tm_values);",
        "  }",
        "  }",
    ]


def _described(kernel: Kernel) -> list[str]:
    """Statics that tell check mode the element types of the kernel's variables."""
    types: dict[str, set[str]] = {}
    for buffer in kernel.buffers:
        if buffer.symbol:
            types.setdefault(buffer.symbol, set()).add(element_name(buffer.dtype))
    return [
        f'static const int tm_described{i} = (tm_gpu_describe("{name}", {found.pop()}), 0);'
        for i, (name, found) in enumerate(types.items())
        if len(found) == 1
    ]


def _symbol_address(name: str) -> tuple[str, str]:
    return "", f'tm_gpu_symbol("{name}")'


def _extents(lowered: Lowered, kind: str, setup: Sequence[str]) -> list[str]:
    known = dict(lowered.thread_extent)
    return [_extent(known.get(f"{kind}.{axis}", "1"), setup)[0] for axis in "xyz"]


def _extent(text: str, setup: Sequence[str]) -> tuple[str, frozenset[str]]:
    try:
        value, names = c_extent(text)
    except ExtentError as error:
        raise NoObjectError(f"the extent {text} cannot be computed at a launch") from error
    declared = set(re.findall(r"\w+", " ".join(setup)))
    if not names <= declared:
        raise NoObjectError(f"the extent {text} takes values that the kernel does not have")
    return value, names
