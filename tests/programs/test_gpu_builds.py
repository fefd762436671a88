"""Whole programs build for a GPU with nvcc; running them is ``benchmarks/gpu/run_programs.py``."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from built_programs import SAMPLES
from expectations import load
from tool import migrate

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc"),
]


# Relocatable device code with static kernels; managed and constant variables; a graph.
@pytest.mark.parametrize("program", ["02_kmeans", "03_pagerank", "06_nbody_graph"])
def test_verified_kernels_are_in_the_executable(program: str, tmp_path: Path) -> None:
    app = tmp_path / "app"
    options = ("--target", "cuda", "--arch", "sm_90", "-o", app)
    result = migrate("build", SAMPLES / program, *options, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    symbols = subprocess.check_output(["nm", app], text=True)
    manifest = json.loads(Path(f"{app}.kernels.json").read_text(encoding="utf-8"))["kernels"]
    for row in manifest:
        for level in set(row["levels"]) - {"kept"}:
            assert f" T tm_kernel_{row['mangled']}_{level}" in symbols
    states = {row["id"].split(":")[-1].split("<")[0]: row["state"] for row in manifest}
    for kernel in load(SAMPLES / program / "expected.toml")["kernel"]:
        expected = "migrated" if kernel["verdict"] == "verified" else "kept"
        assert states[kernel["name"]] == expected, result.stdout
