"""Migrates ``samples/cuda`` with verification and holds the outcome against each expected.toml."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from expectations import RUNGS, kernel_problems, load
from tool import once, verified_report

Json = dict[str, Any]
SAMPLES = Path(__file__).parents[2] / "samples" / "cuda"
PROGRAMS = sorted(path.parent.name for path in SAMPLES.glob("*/expected.toml"))


def _fingerprint() -> dict[str, str]:
    return {
        str(path.relative_to(SAMPLES)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(SAMPLES.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Json:
    """Return the report on all samples, the exit status, and whether samples/ stayed as it was."""

    def make(folder: Path) -> Json:
        before = _fingerprint()
        report, status = verified_report(SAMPLES, folder, "-j", "2")
        return {"report": report, "status": status, "untouched": before == _fingerprint()}

    return once("samples", tmp_path_factory, request.config, make)


@pytest.mark.parametrize("program", PROGRAMS)
def test_sample_ends_as_expected(program: str, outcome: Json) -> None:
    found = [k for k in outcome["report"]["kernels"] if program in Path(k["file"]).parts]
    expected = load(SAMPLES / program / "expected.toml")
    problems = kernel_problems(expected["kernel"], found)
    assert not problems, "\n".join(problems)


def test_nine_in_ten_kernels_are_verified_at_loop_level_or_above(outcome: Json) -> None:
    kernels = outcome["report"]["kernels"]
    good = [
        k
        for k in kernels
        if k["verdict"] == "verified" and RUNGS.index(k["level"]) >= RUNGS.index("loop")
    ]
    assert len(good) >= 0.9 * len(kernels)
    refused = [k["id"] for k in kernels if k["verdict"] != "verified" and not k["diagnostics"]]
    assert not refused, "a refusal without a code"


def test_totals_add_up_and_samples_are_untouched(outcome: Json) -> None:
    report = outcome["report"]
    totals = report["totals"]["kernels"]
    verdicts = Counter(k["verdict"] for k in report["kernels"])
    assert totals["all"] == len(report["kernels"]) == sum(verdicts.values())
    for verdict in ("verified", "unverified", "kept", "unparsed"):
        assert totals[verdict] == verdicts[verdict]
    assert report["totals"]["calls"] == sum(call["count"] for call in report["calls"])
    assert outcome["status"] == 1, "samples hold kernels that must be refused"
    assert outcome["untouched"]
    assert not [d for d in report["diagnostics"] if d["code"].startswith("TM9")]


def test_every_sample_is_complete() -> None:
    for folder in sorted(SAMPLES.iterdir()):
        assert (folder / "main.cu").exists(), folder
        assert (folder / "expected.toml").exists(), folder
        readme = (folder / "README.md").read_text(encoding="utf-8")
        assert len(readme.splitlines()) == 5, folder
    assert len(PROGRAMS) >= 17
