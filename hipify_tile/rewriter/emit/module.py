"""Composition of the emissions of one source file into a module: ``saxpy.cu`` → ``saxpy_cu.py``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from hipify_tile.rewriter.emit.kernel import module_text
from hipify_tile.rewriter.model import Emission
from hipify_tile.rewriter.names import Namer


@dataclass(frozen=True, slots=True)
class Module:
    """A module's file name and text; ``factories`` are named in the order of the emissions."""

    file_name: str
    source: str
    factories: tuple[str, ...]


def module_name(source_path: str) -> str:
    """Return the file name of the module for a source: ``src/a b.cu`` → ``a_b_cu.py``."""
    return re.sub(r"\W", "_", os.path.basename(source_path)) + ".py"


def compose(source_path: str, emissions: tuple[Emission, ...]) -> Module:
    """Compose ``emissions``; factories of one name (template instances) get numbers."""
    namer = Namer()
    factories, definitions = [], []
    prelude: list[str] = []
    for emission in emissions:
        name = namer.fresh(emission.factory)
        factories.append(name)
        definitions.append(_renamed(emission.definition, emission.factory, name))
        prelude += [part for part in _parts(emission.prelude) if part not in prelude]
    imports = sorted(p for p in prelude if p.startswith("import") and "tilelang" not in p)
    imports += [""] if imports else []
    imports += [p for p in prelude if p.startswith("import") and "tilelang" in p]
    helpers = sorted(p for p in prelude if not p.startswith("import"))
    lines = [*imports, *(f"\n\n{h}" for h in helpers)]
    docstring = f"TileLang for the CUDA kernels of {source_path}."
    text = module_text(docstring, tuple(lines), tuple(definitions))
    return Module(module_name(source_path), text, tuple(factories))


def _renamed(definition: str, old: str, new: str) -> str:
    if old == new:
        return definition
    return re.sub(
        rf"^( *def ){old}\(|^(    return ){old}$",
        lambda m: f"{m[1]}{new}(" if m[1] else f"{m[2]}{new}",
        definition,
        flags=re.MULTILINE,
    )


def _parts(prelude: tuple[str, ...]) -> list[str]:
    """Split prelude lines into imports and helper definitions."""
    parts: list[list[str]] = []
    for line in prelude:
        if not line.strip() and (not parts or parts[-1][0].startswith("import")):
            continue
        if line.startswith(("import ", "from ", "def ")):
            parts.append([line])
        elif parts:
            parts[-1].append(line)
    return ["\n".join(p).rstrip("\n") for p in parts]
