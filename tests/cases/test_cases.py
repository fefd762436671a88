"""Runs the real tool on every case folder and checks verdicts, launches, calls and findings."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit

sys.path.insert(0, str(Path(__file__).parent))
from expectations import kernel_problems, load

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/case.toml"))
EXPECTED = {case.name: load(case / "case.toml") for case in CASES}
SHARED = [name for name, expected in EXPECTED.items() if not expected.get("alone")]
LANGUAGES = {".cu": "cuda", ".c": "c", ".cpp": "c++"}

Json = dict[str, Any]


def migrate(*args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``tile-migrate`` as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "hipify_tile", *map(str, args)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def verified_report(tree: Path, out: Path, *args: str) -> tuple[Json, int]:
    """Verify every kernel under ``tree``; return the JSON report and the exit status."""
    file = out / f"{tree.name}.json"
    arguments = ("--verify", "--no-cache", "--format", "json", "--output-file", file, *args)
    result = migrate(tree, *arguments, cwd=out)
    assert file.exists(), result.stderr
    return json.loads(file.read_text(encoding="utf-8")), result.returncode


@pytest.fixture(scope="session")
def shared_report(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Json:
    """Return one report over all cases that need no run of their own, made once per session."""
    base = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        base = base.parent
    stored = base / "cases-report.json"
    with (base / "cases.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists():
            tree = base / "cases"
            for name in SHARED:
                shutil.copytree(HERE / name, tree / name)
            report, _ = verified_report(tree, base, "-j", "2")
            stored.write_text(json.dumps(report), encoding="utf-8")
    loaded: Json = json.loads(stored.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """Return pytest-xdist's worker name, or ``master`` without it."""
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


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
