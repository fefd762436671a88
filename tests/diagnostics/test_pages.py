"""Every code has a page, and the pages tell the truth: their examples are run.

The block under "Example" emits exactly that code, the block under "How to fix" does not emit it.
Codes that no source can produce are produced here by a fake stage.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hipify_tile.cli import session
from hipify_tile.diagnostics import page
from hipify_tile.diagnostics.model import Severity
from hipify_tile.diagnostics.registry import REGISTRY

PAGES = Path(page.__file__).parent / "pages"
ROOT = Path(__file__).parents[2]

COMPANIONS = {"TM0004": {"TM0001", "TM0002"}}
"""Codes that cannot come alone: a kernel in error has an error in it."""

UNSHOWABLE = {
    *("TM2402", "TM5001", "TM5010", "TM5011", "TM5012"),
    *("TM6003", "TM6004", "TM6005", "TM9001", "TM9002"),
}
"""Codes whose page says why no source shows them; other tests of the suite produce them."""

CUDA = sorted(c for c in REGISTRY if page.read(c).blocks("Example", "cuda"))
_FILE = re.compile(r"^// (\w+\.cuh?)\n", re.MULTILINE)


def findings(block: str, folder: Path, *, verify: bool) -> dict[str, Severity]:
    """Run the tool on a block (one file, or several after ``// name.cu`` lines)."""
    folder.mkdir()
    parts = _FILE.split(block)
    files = dict(zip(parts[1::2], parts[2::2], strict=True)) if parts[1:] else {"example.cu": block}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "tile-migrate.toml").write_text("[verify]\ntime-limit = 4\n")
    report = session.make_report(
        session.Request(paths=(folder,), verify=verify, no_cache=True, jobs=1, quiet=True)
    )
    return {d.code: d.severity for d in report.diagnostics}


def test_every_code_has_a_page_and_every_page_a_code():
    assert {p.stem for p in PAGES.glob("*.md")} == set(REGISTRY)
    assert (ROOT / "docs" / "diagnostics" / "TM1204.md").is_file()


@pytest.mark.parametrize("code", sorted(REGISTRY))
def test_page_has_its_sections(code):
    found = page.read(code)
    assert found.text.startswith(f"# {code}: {REGISTRY[code].name}\n")
    assert tuple(found.sections) == page.SECTIONS
    assert all(len(body.split()) > 2 for body in found.sections.values())
    assert max(len(line) for line in found.text.splitlines()) <= 110
    if code not in UNSHOWABLE:
        assert "```" in found.sections["Example"]
        assert "```" in found.sections["How to fix"]


@pytest.mark.parametrize("code", CUDA)
def test_example_emits_exactly_its_code(code, tmp_path):
    (block,) = page.read(code).blocks("Example", "cuda")
    found = findings(block, tmp_path / "src", verify=_executes(code))
    assert code in found
    others = {c for c, s in found.items() if s is not Severity.NOTE} - {code}
    assert others <= COMPANIONS.get(code, set())


@pytest.mark.parametrize("code", [c for c in CUDA if page.read(c).blocks("How to fix", "cuda")])
def test_fix_removes_it(code, tmp_path):
    (block,) = page.read(code).blocks("How to fix", "cuda")
    found = findings(block, tmp_path / "src", verify=_executes(code))
    assert not {c for c, s in found.items() if c == code or s is not Severity.NOTE}


def _executes(code: str) -> bool:
    return code.startswith("TM5") and code != "TM5008"


def shell(script: str, folder: Path) -> str:
    """Run a console block with ``tile-migrate`` standing for this tool; return all its output."""
    tool = f'tile-migrate() {{ "{sys.executable}" -m hipify_tile "$@"; }}\n'
    run = subprocess.run(
        ["/bin/bash", "-c", tool + script],
        cwd=folder,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": "/usr/bin:/bin",
            "TILE_MIGRATE_CACHE": str(folder / ".cache"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout + run.stderr


@pytest.mark.parametrize(
    "code",
    ["TM0005", "TM0009", "TM0010", "TM0013", "TM0014", "TM2401", "TM6001", "TM6002"],
)
def test_console_examples(code, tmp_path):
    found = page.read(code)
    (example,) = found.blocks("Example", "console")
    (fix,) = found.blocks("How to fix", "console")
    verbose = re.sub(r"^(tile-migrate [^\n]*?)( -- |$)", r"\1 -v\2", example, flags=re.MULTILINE)
    assert f"[{code}]" in shell(verbose, tmp_path)
    verbose = re.sub(r"^(tile-migrate [^\n]*?)( -- |$)", r"\1 -v\2", fix, flags=re.MULTILINE)
    assert f"[{code}]" not in shell(verbose, tmp_path)


def test_unreadable_file_example(tmp_path):
    found = page.read("TM0003")
    (example,) = found.blocks("Example", "console")
    (fix,) = found.blocks("How to fix", "toml")
    assert "[TM0003]" in shell(example, tmp_path)
    (tmp_path / "tile-migrate.toml").write_text(fix)
    (tmp_path / "a.cu").write_text("int x;\n")
    assert "[TM0003]" not in shell("tile-migrate .", tmp_path)


def test_bad_configuration_example(tmp_path):
    found = page.read("TM0006")
    (tmp_path / "a.cu").write_text("int x;\n")
    for section, expected in (("Example", True), ("How to fix", False)):
        (block,) = found.blocks(section, "toml")
        (tmp_path / "tile-migrate.toml").write_text(block)
        assert ("[TM0006]" in shell("tile-migrate a.cu", tmp_path)) is expected


def test_no_compiler(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    example = page.read("TM5008").blocks("Example", "cuda")[0]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "TM5006" in findings(example, tmp_path / "x", verify=True)
