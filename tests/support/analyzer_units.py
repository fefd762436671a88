"""Shared by the front end's tests: analyse a text as a project file, with one warm cache."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit, UnitAnalysis


@cache
def cache_folder() -> Path:
    """Precompiled headers of this user and test run, shared by the tests."""
    return Path(tempfile.gettempdir()) / f"tile-migrate-tests-{os.getuid()}"


def analyze(
    folder: Path, text: str | bytes, name: str = "main.cu", args: tuple[str, ...] = ()
) -> UnitAnalysis:
    """Write ``text`` to ``folder/name`` and analyse it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    unit = CompileUnit(path=str(path), directory=str(folder), args=args, root=str(folder))
    return analyze_unit(unit, cache=cache_folder())
