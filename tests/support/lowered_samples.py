"""Lowering of many emissions for a GPU target, and one translation unit of their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hipify_tile.rewriter.model import Emission
from hipify_tile.verify.lowering import Lowered, LoweringError, lower

OPTIONS = {"block": (16, 16, 1), "shared_bytes": 4096}
_FOR_HIP = re.compile(r"#ifdef __HIPCC__\n.*?#endif\n", re.DOTALL)
_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)


def lower_all(
    emissions: Iterable[tuple[str, Emission]], target: str, arch: str = "sm_80"
) -> tuple[dict[str, Lowered], dict[str, str]]:
    """Return what lowers, and what TileLang says to the rest, by the emissions' ids."""
    lowered, refused = {}, {}
    for key, emission in emissions:
        try:
            lowered[key] = lower(emission, target, {**OPTIONS, "arch": arch})
        except LoweringError as error:
            refused[key] = " ".join(error.diagnostic.notes)
    return lowered, refused


def one_unit(texts: Iterable[Lowered]) -> str:
    """Return one CUDA text: each program in a namespace, its entry renamed, includes in front.

    Includes keep their order of first appearance. A helper's own includes are kept, so a text that
    uses a type before its include is only noticed alone: such a text has a test of its own.
    """
    includes: dict[str, None] = {}
    parts = []
    for number, lowered in enumerate(texts):
        text = _FOR_HIP.sub("", lowered.source)
        includes |= dict.fromkeys(_INCLUDE.findall(text))
        body = re.sub(rf"\b{lowered.entry}\b", f"k{number}", _INCLUDE.sub("", text))
        parts.append(f"namespace n{number} {{\n{body}}}\n")
    return "".join(includes) + "".join(parts)
