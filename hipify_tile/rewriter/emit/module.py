"""One module for the kernels of a source file: several emissions → one text.

    matmul (loop), zip<int> (loop), zip<float> (loop)  →  def matmul, def zip_int, def zip_float

It renames factories that would clash and merges what they need at module level. It does not change
a program.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hipify_tile.rewriter.emit.kernel import module_text
from hipify_tile.rewriter.emit.provenance import in_comment
from hipify_tile.rewriter.model import Emission

_MOST = 48
"""Length of the template arguments' part of a name, beyond which it is a digest."""


@dataclass(frozen=True, slots=True)
class Member:
    """A kernel of the module: ``arguments`` are its template arguments, ``remark`` a comment."""

    id: str
    emission: Emission
    arguments: tuple[str, ...] = ()
    remark: str = ""


def compose_module(source: str, members: Sequence[Member]) -> str:
    """Return the module text for ``members``, which come from the file ``source``."""
    names = factory_names(members)
    definitions = tuple(_renamed(m, names[m.id]) for m in members)
    prelude = _merged([m.emission.prelude for m in members])
    return module_text(
        f"TileLang for the CUDA kernels of {in_comment(source)}.", prelude, definitions
    )


def factory_names(members: Sequence[Member]) -> dict[str, str]:
    """Return the factory's name in the module for each member's id, all different."""
    claims: dict[str, list[Member]] = {}
    for member in members:
        claims.setdefault(member.emission.factory, []).append(member)
    names: dict[str, str] = {}
    for base, rivals in claims.items():
        for member in rivals:
            names[member.id] = base if len(rivals) == 1 else f"{base}_{_suffix(member)}"
    taken = list(names.values())
    return {
        key: name if taken.count(name) == 1 else f"{name}_{_digest(key)}"
        for key, name in names.items()
    }


def _suffix(member: Member) -> str:
    words = "_".join(re.findall(r"\w+", " ".join(member.arguments)))
    return words if 0 < len(words) <= _MOST else _digest(member.id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _renamed(member: Member, name: str) -> str:
    """Rename the factory, its prim_func and what it returns: the lines that hold its name."""
    old = re.escape(member.emission.factory)
    text = member.emission.definition
    if name != member.emission.factory:
        text = re.sub(rf"^((?:    )?def ){old}\(", rf"\g<1>{name}(", text, flags=re.MULTILINE)
        text = re.sub(rf"^    return {old}$", f"    return {name}", text, flags=re.MULTILINE)
    return f"# {member.remark}\n{text}" if member.remark else text


def _merged(preludes: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Merge module-level lines: imports once, standard library first, then each helper once."""
    imports: dict[str, None] = {}
    helpers: dict[str, None] = {}
    for lines in preludes:
        head = [line for line in lines if line.startswith(("import ", "from "))]
        imports |= dict.fromkeys(head)
        rest = "\n".join(line for line in lines if line not in head).strip("\n")
        helpers |= dict.fromkeys(part for part in re.split(r"\n\n\n+", rest) if part.strip())
    own = [line for line in imports if "tilelang" in line]
    standard = sorted(line for line in imports if line not in own)
    merged = [*standard, *([""] if standard and own else []), *own]
    for helper in helpers:
        merged += ["", "", *helper.strip("\n").split("\n")]
    return tuple(merged)
