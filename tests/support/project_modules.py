"""The project's own Python modules, found on disk and named as they are imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {name: ROOT / name for name in ("hipify_tile", "compat", "backend")}


def _modules() -> Iterator[tuple[str, Path]]:
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if package == "hipify_tile" and parts[0] in ("compat", "backend"):
                continue  # the symlinks; their targets are visited as packages of their own
            if parts[-1] == "__init__":
                parts = parts[:-1]
            prefix = () if package == "hipify_tile" else (package,)
            yield ".".join((*prefix, *parts)), path


MODULES = dict(_modules())
"""Dotted name below ``hipify_tile`` → file, for every module; the package itself is ``""``."""
