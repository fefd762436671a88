"""Runs the real tool on every case folder and checks verdicts, launches, calls and findings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from expectations import kernel_problems, load
from tool import once, verified_report

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/case.toml"))
EXPECTED = {case.name: load(case / "case.toml") for case in CASES}
SHARED = [name for name, expected in EXPECTED.items() if not expected.get("alone")]
LANGUAGES = {".cu": "cuda", ".c": "c", ".cpp": "c++"}

Json = dict[str, Any]


@pytest.fixture(scope="session")
def shared_report(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Json:
    """Return one report over all cases that need no run of their own."""

    def make(folder: Path) -> Json:
        for name in SHARED:
            shutil.copytree(HERE / name, folder / "tree" / name)
        report, _ = verified_report(folder / "tree", folder, "-j", "2")
        return report

    return once("cases", tmp_path_factory, request.config, make)


def _part(report: Json, name: str) -> Json:
    """Return the part of the shared report that lies in one case's folder."""

    def mine(path: str | None) -> bool:
        return path is not None and name in Path(path).parts

    return {
        "kernels": [k for k in report["kernels"] if mine(k["file"])],
        "launches": [x for x in report["launches"] if mine(x["file"])],
        "files": [f for f in report["files"] if mine(f["path"])],
        "diagnostics": [d for d in report["diagnostics"] if mine(d["file"])],
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_case(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    expected = EXPECTED[name]
    if expected.get("alone"):
        report, status = verified_report(HERE / name, tmp_path)
        assert status == expected["exit"]
    else:
        report = _part(request.getfixturevalue("shared_report"), name)
    problems = kernel_problems(expected.get("kernel", []), report["kernels"])
    for want in expected.get("launches", []):
        if not any(want.items() <= launch.items() for launch in report["launches"]):
            problems.append(f"no launch {want} among {report['launches']}")
    for want in expected.get("diagnostics", []):
        if not any(want.items() <= found.items() for found in report["diagnostics"]):
            problems.append(f"no diagnostic {want} among {report['diagnostics']}")
    for want in expected.get("files", []):
        if not any(
            f["status"] == want["status"] and f["path"].endswith(want["path"])
            for f in report["files"]
        ):
            problems.append(f"no file {want} among {report['files']}")
    if expected.get("distinct_ids"):
        ids = [k["id"] for k in report["kernels"]]
        assert len(ids) == len(set(ids)), ids
    bugs = [d for d in report["diagnostics"] if d["code"].startswith("TM9")]
    assert not problems + bugs, "\n".join(map(str, problems + bugs))


@pytest.mark.parametrize(
    "name", [n for n, e in EXPECTED.items() if "calls" in e or "calls_exact" in e]
)
def test_calls_are_inventoried_where_they_are_written(name: str) -> None:
    expected = EXPECTED[name]
    found = []
    for path in sorted((HERE / name).rglob("*")):
        if path.suffix in LANGUAGES:
            unit = CompileUnit(
                path=str(path),
                directory=str(path.parent),
                root=str(HERE / name),
                language=LANGUAGES[path.suffix],
            )
            found += [
                {"api": c.api, "library": c.library, "line": c.span.line, "column": c.span.column}
                for c in analyze_unit(unit).calls
            ]
    for want in expected.get("calls", []):
        assert any(want.items() <= call.items() for call in found), (want, found)
    if "calls_exact" in expected:
        assert {c["api"] for c in found} == set(expected["calls_exact"]), found
