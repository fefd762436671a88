"""Imports go downwards only, from the command line to the intermediate programs.

The order: cli → driver → {report, verify, rewriter, analyzer, onnx} → ir, diagnostics.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from project_modules import MODULES, ROOT

BASE = ("ir", "diagnostics")
ALLOWED: dict[str, tuple[str, ...]] = {
    "ir": (*BASE,),
    "diagnostics": (*BASE,),
    "analyzer": (*BASE, "analyzer", "cache", "compat", "config", "passes"),
    "rewriter": (
        *BASE,
        "rewriter",
        "passes",
        "analyzer.model",
        "analyzer.inventory_text",
        "analyzer.uniformity",
        "analyzer.affine",
        "analyzer.dependence",
        "analyzer.value_ranges",
    ),
    "verify": (*BASE, "verify", "compat", "rewriter.model", "analyzer.model"),
    "build": (
        *BASE,
        "build",
        "compat",
        "rewriter.model",
        "rewriter.emit.host",
        "analyzer.model",
        "cache",
        "verify",
    ),
    "programs": (*BASE, "programs", "compat", "verify.model"),
    "report": (
        *BASE,
        "report",
        "compat.symbols",
        "rewriter.model",
        "analyzer.model",
        "verify.model",
    ),
    "onnx": (*BASE, "onnx", "rewriter.model"),
    "compat": ("compat",),
    "backend": ("backend", "ir", "compat"),
}
"""What each folder may import, as prefixes below ``hipify_tile``."""


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name below hipify_tile) of each import, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name.startswith("hipify_tile."):
                        yield node.lineno, alias.name.removeprefix("hipify_tile.")
            case ast.ImportFrom(module=str(module), names=names, level=0):
                if module == "hipify_tile":
                    yield from ((node.lineno, a.name) for a in names if a.name != "__version__")
                elif module.startswith("hipify_tile."):
                    below = module.removeprefix("hipify_tile.")
                    yield from ((node.lineno, f"{below}.{a.name}") for a in names)
            case ast.ImportFrom(level=level) if level > 0:
                yield node.lineno, "relative import"
            case _:
                pass


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == p or name.startswith(p + ".") for p in prefixes)


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_downwards(name: str) -> None:
    layer = name.split(".")[0]
    for line, target in imported(MODULES[name]):
        where = f"{MODULES[name].relative_to(ROOT)}:{line} imports {target}"
        assert target != "relative import", where
        if layer in ALLOWED:
            assert within(target, ALLOWED[layer]), where
        elif layer != "cli" and layer != "__main__":
            assert not within(target, ("cli",)), where


def test_verify_may_compile_what_the_rewriter_emits_without_importing_it() -> None:
    """The oracle must not share code with what it judges."""
    for name, path in MODULES.items():
        if name.split(".")[0] == "verify":
            targets = [t for _, t in imported(path)]
            assert not [t for t in targets if within(t, ("rewriter.emit", "rewriter.raise_"))], name
