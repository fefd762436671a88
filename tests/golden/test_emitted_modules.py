"""Emitted modules are files that a person would keep: they parse and are formatted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULES = sorted(Path(__file__).parent.glob("*/input.expected.*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_module_parses_and_is_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    compile(text, str(path), "exec")
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "-"]
    done = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == text
