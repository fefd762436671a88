"""Runs a compiler or binary tool; what it says becomes a diagnostic."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from hipify_tile.diagnostics.model import Diagnostic
from hipify_tile.diagnostics.registry import diagnostic


_TELLING = ("rror: ", "undefined reference", "multiple definition", "duplicate symbol", "cannot find")


def run_tool(command: Sequence[str], what: str) -> Diagnostic | None:
    """Run a compiler; return TM6003 with its errors about ``what`` unless it succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    lines = done.stderr.splitlines()
    errors = [line for line in lines if any(word in line for word in _TELLING)]
    notes = tuple((errors or lines or ["no message"])[:5])
    return diagnostic("TM6003", headline=f"{what}: the compiler reports errors", notes=notes)
