"""Runs ``tile-migrate`` as a user would, and shares one expensive report between pytest workers."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]


def migrate(
    *args: str | Path, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``tile-migrate`` with ``args`` in ``cwd``; ``env`` is added to the environment."""
    return subprocess.run(
        [sys.executable, "-m", "hipify_tile", *map(str, args)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **(env or {})},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def verified_report(tree: Path, out: Path, *args: str | Path) -> tuple[Json, int]:
    """Verify every kernel under ``tree``; return the JSON report and the exit status."""
    file = out / f"{tree.name}.json"
    arguments = ("--verify", "--no-cache", "--format", "json", "--output-file", file, *args)
    result = migrate(tree, *arguments, cwd=out)
    assert file.exists(), result.stderr + result.stdout
    return json.loads(file.read_text(encoding="utf-8")), result.returncode


def once(
    name: str,
    factory: pytest.TempPathFactory,
    config: pytest.Config,
    make: Callable[[Path], Json],
) -> Json:
    """Return ``make(folder)``'s result, computed once for all pytest-xdist workers of a session."""
    base = factory.getbasetemp()
    if hasattr(config, "workerinput"):
        base = base.parent
    stored = base / f"{name}.json"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists():
            folder = base / name
            folder.mkdir(exist_ok=True)
            stored.write_text(json.dumps(make(folder)), encoding="utf-8")
    loaded: Json = json.loads(stored.read_text(encoding="utf-8"))
    return loaded
