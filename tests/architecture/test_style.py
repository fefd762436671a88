"""House rules that a linter does not know: sizes, names, catch-alls, provenance of text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from project_modules import MODULES, ROOT

MAX_LINES = 600
BANNED_NAMES = {"utils", "util", "helpers", "helper", "misc", "common"}
SOURCES = [
    path
    for pattern in ("*.py", "*.h", "*.cuh", "*.hpp", "*.cpp", "*.cc", "*.cu", "*.md", "*.toml")
    for path in ROOT.rglob(pattern)
    if not {".venv", "build", ".git", "node_modules", ".dev"} & set(path.relative_to(ROOT).parts)
    and not any(part.startswith(".") and part != ".ci" for part in path.relative_to(ROOT).parts)
]


def test_modules_are_small_and_named_for_one_thing() -> None:
    for path in SOURCES:
        relative = path.relative_to(ROOT)
        if path.suffix == ".py":
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines <= MAX_LINES, f"{relative} has {lines} lines"
            assert path.stem not in BANNED_NAMES, relative


BOUNDARIES = {"driver", "verify.isolate"}
"""Where anything is caught: per kernel, and in a child process, whose failure its parent gets."""


@pytest.mark.parametrize("name", MODULES)
def test_catch_alls_live_at_two_boundaries_only(name: str) -> None:
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or {"Exception", "BaseException"} & {
                n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)
            }
            assert not broad or name in BOUNDARIES, f"{name}:{node.lineno} catches everything"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is(name: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8"))), name


def test_headers_are_our_own_text() -> None:
    foreign = re.compile(r"copyright|nvidia corporation|all rights reserved|proprietary", re.I)
    headers = [p for p in (ROOT / "compat/include").rglob("*") if p.is_file()]
    assert headers
    for path in headers:
        found = foreign.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path.relative_to(ROOT)}: {found and found.group()}"


def test_nothing_refers_to_a_developer_machine() -> None:
    private = re.compile(r"(?<![\w.$}])/(?:work|home/\w+|root)/|\.\./shared\b")
    for path in SOURCES:
        if path == Path(__file__):
            continue
        found = private.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{path.relative_to(ROOT)}: {found and found.group()}"


def test_importing_any_module_is_light() -> None:
    """No module imports TileLang or torch, or loads libclang, when it is imported."""
    names = [f"hipify_tile.{name}".rstrip(".") for name in MODULES]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    if not name.endswith('__main__'):\n"
        "        importlib.import_module(name)\n"
        "heavy = {'torch', 'tilelang', 'tvm', 'compat', 'backend'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "clang = sys.modules.get('clang.cindex')\n"
        "assert clang is None or not clang.Config.loaded\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
