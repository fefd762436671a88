"""File names that are no text or would end a comment, and places that cannot be written."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from tool import migrate

KERNEL = "__global__ void one(int *out) { out[threadIdx.x] = 1; }\n"


def test_names_that_are_not_text_cost_their_file_only(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "plain.cu").write_text(KERNEL)
    with open(os.path.join(os.fsencode(tree), b"caf\xe9.cu"), "w") as stream:
        stream.write(KERNEL)
    for format in ("json", "sarif", "text", "concise"):
        done = migrate(tree, "--no-cache", "--format", format, cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        if format in ("json", "sarif"):
            json.loads(done.stdout)
    done = migrate(tree, "--no-cache", "--report", "-o", "out", "--no-verify", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    json.loads((tmp_path / "tile-report" / "report.json").read_text(encoding="utf-8"))


def test_a_name_cannot_leave_its_comment(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / 'a\nimport os\n"""\\x.cu').write_text(KERNEL)
    done = migrate(tree, "--no-cache", "-o", "out", "--no-verify", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    (module,) = (tmp_path / "out").rglob("*.py")
    imported = [
        name.name
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        for name in node.names
    ]
    assert imported == ["tilelang.language"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--report", "--report-dir", "plain.cu/x"),
        ("-o", "plain.cu/x", "--no-verify"),
        ("--format", "json", "--output-file", "plain.cu/x"),
    ],
)
def test_an_unwritable_place_is_a_usage_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "plain.cu").write_text(KERNEL)
    done = migrate("plain.cu", "--no-cache", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "cannot write" in done.stderr
