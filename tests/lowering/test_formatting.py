"""Emitted modules of all samples are formatted as ruff formats them, alone and composed."""

from __future__ import annotations

import subprocess
import sys

from hipify_tile.rewriter.emit.module import Member, compose_module


def test_modules_are_formatted(emitted, tmp_path):
    for number, e in enumerate(emitted):
        (tmp_path / f"m{number}.py").write_text(e.emission.source, encoding="utf-8")
    members = [Member(e.id, e.emission, remark=e.id) for e in emitted]
    (tmp_path / "all.py").write_text(compose_module("all.cu", members), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated"]
    done = subprocess.run(
        [*ruff, "--diff", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[:4000]
