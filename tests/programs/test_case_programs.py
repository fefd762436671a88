"""Constructs that tools stumble over, as programs that are built, run and checked in every mode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from built_programs import build, needs_gxx, run

pytestmark = needs_gxx()
CASES = Path(__file__).parent / "cases"
REFUSED = {"31_device_lambdas"}  # TM1003: closures are no parameters
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())


@pytest.mark.parametrize("case", NAMES)
def test_case_runs_in_every_mode(
    case: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = build(CASES / case, tmp_path_factory, request.config)
    report = tmp_path / "check.jsonl"
    for mode in ("kept", "migrated", "check"):
        ran = run(app, tmp_path, MODE=mode, CHECK_REPORT=str(report))
        assert (ran.status, ran.out) == (0, f"{case[3:]}: 0 wrong\n"), f"{mode}: {ran.err}"
    events = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    assert not [e for e in events if e["event"] == "difference"]
    migrated = [e for e in events if e["event"] == "summary" and e["equal"]]
    assert migrated or case in REFUSED
