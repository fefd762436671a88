"""The documentation mentions what exists: every option, code, configuration key and folder."""

from __future__ import annotations

import re

import pytest
import typer.main
from project_modules import ROOT

from hipify_tile import config
from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.cli.app import app
from hipify_tile.diagnostics.registry import REGISTRY
from hipify_tile.ir.printer import print_ir
from hipify_tile.project import discover
from hipify_tile.rewriter.pipeline import LOOP, emit_levels
from hipify_tile.rewriter.raise_.raising import raise_kernel

GUIDE = "\n".join(
    path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
)
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def _options() -> set[str]:
    group = typer.main.get_command(app)
    found = set()
    for command in group.commands.values():  # type: ignore[attr-defined]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                found.add(
                    next((o for o in parameter.opts if o.startswith("--")), parameter.opts[0])
                )
    return found - {"--help"}


@pytest.mark.parametrize("option", sorted(_options()))
def test_guide_mentions_every_option(option: str) -> None:
    pages = {"--out": r"-o\b|--out", "--jobs": r"-j\b|--jobs", "--quiet": r"-q\b|--quiet",
             "--verbose": r"-v\b|--verbose"}  # fmt: skip
    assert re.search(pages.get(option, rf"(?<![\w-]){re.escape(option)}(?![\w-])"), GUIDE), option


def test_guide_mentions_every_command() -> None:
    group = typer.main.get_command(app)
    for command in group.commands:  # type: ignore[attr-defined]
        assert command == "migrate" or f"tile-migrate {command}" in GUIDE, command


def test_guide_mentions_every_setting() -> None:
    page = (ROOT / "docs/guide/configuration.md").read_text(encoding="utf-8")
    for key in (*config._KEYS, *config._VERIFY_KEYS):
        assert key in page, key


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs/diagnostics").glob("TM*.md")}
    assert pages == set(REGISTRY)


def test_documents_name_registered_codes_and_existing_files() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        unknown = set(re.findall(r"TM\d{4}", text)) - set(REGISTRY)
        assert not unknown, f"{page.name}: {unknown}"
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
        if page.parent.name in ("diagnostics", "guide"):
            continue  # these name the user's files, not ours
        for name in re.findall(r"`((?:\w+/)+[\w.]*)`", text):
            if "xxxx" in name:
                continue  # stands for any code
            roots = (ROOT, ROOT / "hipify_tile", page.parent)
            assert any((root / name).exists() for root in roots), f"{page.name} names {name}"


def test_programs_in_the_map_are_what_is_printed() -> None:
    """Each line of the sample's programs in ARCHITECTURE.md is printed; an ellipsis skips some."""
    (unit,) = discover([ROOT / "samples/cuda/02_matmul_naive"]).units
    (kernel,) = (f.kernel for f in analyze_unit(unit).kernels if f.name == "matmul")
    assert kernel is not None
    programs = [print_ir(kernel), print_ir(LOOP.run(kernel)), print_ir(raise_kernel(kernel))]
    programs += [r.emission.source for r in emit_levels(kernel) if r.emission is not None]
    printed = "\n".join(programs).split()
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("## One kernel through all stages")[2].partition("## Folders")[0]
    shown = re.findall(r"^```\w*\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert len(shown) == 4
    for block in shown:
        for part in block.split("…"):
            assert " ".join(part.split()) in " ".join(printed), part
