"""The runtime's own tests under sanitizers: no race, no bad access, no undefined behaviour."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from runtime_objects import build_objects, build_program

from hipify_tile.compat import library_sources

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
]
FLAGS = {
    "thread": ("-O1", "-g", "-fsanitize=thread", "-Wno-tsan"),
    # Callers may pass any number as an enumeration, as C lets them.
    "address": (
        *("-O1", "-g", "-fsanitize=address,undefined"),
        *("-fno-sanitize=enum", "-fno-sanitize-recover=undefined"),
    ),
}
PARTS = {
    "cudart": ("memory", "streams", "errors", "launches", "symbols", "sticky", "graphs"),
    "behaviour": ("output", "devices", "twins", "ipc", "errors", "callbacks"),
}


@pytest.mark.parametrize("sanitizer", sorted(FLAGS))
def test_clean_under_sanitizers(sanitizer: str, tmp_path: Path) -> None:
    flags = FLAGS[sanitizer]
    objects = build_objects(tmp_path / "o", flags, library_sources("cudart"))
    environment = dict(os.environ)
    for name, parts in PARTS.items():
        program = build_program(name, objects, tmp_path, flags)
        devices = {} if name == "cudart" else {"TILE_MIGRATE_DEVICES": "3"}
        for part in parts:
            ran = subprocess.run(
                [program, part],
                env={**environment, "TILE_MIGRATE_DEVICES": "1", **devices},
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert ran.returncode == 0, (name, part, ran.stderr)
            assert "Sanitizer" not in ran.stderr and "runtime error" not in ran.stderr, ran.stderr
