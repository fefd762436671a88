"""Launches of whole programs take verdicts away and never make one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from reports import kernel, merged, unit

from hipify_tile.programs import evidence, results
from hipify_tile.report.model import Report, Verdict
from hipify_tile.report.programs import with_evidence
from hipify_tile.report.terminal import program_launches
from hipify_tile.verify.model import Outcome, ProgramEvidence


def judged(*rows: ProgramEvidence, outcome: Outcome = Outcome.VERIFIED) -> Report:
    units = with_evidence([unit("/s/a.cu", kernel(outcome=outcome))], {"k": rows})
    return merged(*units)


def codes(report: Report) -> list[str]:
    return [d.code for d in report.kernels[0].diagnostics if d.code.startswith("TM501")]


def test_equal_launches_are_shown_beside_the_verdict() -> None:
    row = ProgramEvidence("c.jsonl", equal=4, unchecked=1, level="loop")
    report = judged(row)
    assert report.kernels[0].verdict is Verdict.VERIFIED and not codes(report)
    assert report.kernels[0].programs == (row,)
    assert program_launches(report).startswith("4 equal · 1 not compared ")


def test_equal_launches_make_no_verdict() -> None:
    report = judged(ProgramEvidence("c.jsonl", equal=4), outcome=Outcome.UNVERIFIED)
    assert report.kernels[0].verdict is Verdict.UNVERIFIED


@pytest.mark.parametrize("level", ["loop", ""])
@pytest.mark.parametrize("outdated", [False, True])
def test_a_launch_that_differs_takes_the_verdict_away(level: str, outdated: bool) -> None:
    row = ProgramEvidence("c.jsonl", 4, 1, level=level, first="launch 3: …", outdated=outdated)
    report = judged(row)
    found = report.kernels[0]
    assert found.verdict is Verdict.UNVERIFIED and not found.executed
    assert "TM5010" in codes(report)
    (why,) = [d for d in report.diagnostics if d.code == "TM5010"]
    assert why.notes[:2] == ("c.jsonl: 1 of 5 launches differ", "the first: launch 3: …")
    assert not any(x.verified for x in found.levels)


def test_differences_of_another_level_do_not() -> None:
    report = judged(ProgramEvidence("c.jsonl", different=2, level="simt"))
    assert report.kernels[0].verdict is Verdict.VERIFIED
    assert codes(report) == ["TM5011"]


def test_results_are_read_from_mode_checks_report(tmp_path: Path) -> None:
    file, source = tmp_path / "c.jsonl", tmp_path / "k.cu"
    source.touch()
    events = [
        {"event": "difference", "kernel": "k", "mangled": "k", "launch": 2, "kind": "loop",
         "argument": "x", "index": 3, "kept": 1, "migrated": 2, "differing": 1},
        {"event": "summary", "kernel": "k", "mangled": "k", "launches": 5, "equal": 3,
         "different": 1, "unchecked": 1, "kinds": ["loop"], "reason": "r", "tolerance": 0.5},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(e) + "\n" for e in events))
    (row,) = evidence.of_files([file], {"k": str(source)})["k"]
    assert (row.equal, row.different, row.unchecked, row.level) == (3, 1, 1, "loop")
    assert (row.tolerance, row.reason, row.outdated) == (0.5, "r", False)
    assert row.first == "launch 2: x[3] is 1 kept, 2 as loop; 1 elements differ"
    later = file.stat().st_mtime + 5
    os.utime(source, (later, later))
    assert evidence.of_files([file], {"k": str(source)})["k"][0].outdated


def test_other_files_are_no_results(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello\n")
    for name in ("a", "missing"):
        with pytest.raises(results.NoResultsError):
            evidence.of_files([tmp_path / name], {})
