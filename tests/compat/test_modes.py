"""The launch seam's switches: which implementation runs, mode check, mode record."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_objects import build_program

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

# Elements 8..907 and 0..7 of 0..999 doubled, the last four replaced by 5.
SCALED = sum(range(1000)) + sum(range(908)) - sum(range(996, 1000)) + 4 * 5
RIGHT = [f"scale {SCALED}.0", "accumulate 40.5", "walk 1 21 51"]
BROKEN_KEPT = "counts 1 1, broken 0"


@pytest.fixture(scope="module")
def program(engine_objects: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program("modes", engine_objects, tmp_path_factory.mktemp("modes"))


def run(program: Path, planted: str = "-1", **switches: str) -> subprocess.CompletedProcess[str]:
    names = {name: value for name, value in os.environ.items() if "TILE_MIGRATE" not in name}
    env = names | {f"TILE_MIGRATE_{name}": value for name, value in switches.items()}
    return subprocess.run(
        [str(program), planted], env=env, capture_output=True, text=True, timeout=60, check=False
    )


def counts(result: subprocess.CompletedProcess[str]) -> dict[str, dict[str, dict[str, int]]]:
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return {
        line["kernel"]: {"ran": line["ran"], "refused": line["not_applicable"]} for line in lines
    }


def results(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in result.stdout.splitlines() if not line.startswith(("{", "loop ran"))]


def test_registry(program: Path) -> None:
    result = run(program, "registry")
    assert result.returncode == 0, result.stderr


def test_kept(program: Path) -> None:
    result = run(program, "5", MODE="kept")
    assert results(result) == [*RIGHT, BROKEN_KEPT]
    assert counts(result)["scale"]["ran"] == {"kept": 2}
    assert result.stderr == ""


def test_migrated_is_the_default_and_takes_the_best_level(program: Path) -> None:
    result = run(program)
    assert counts(result)["scale"]["ran"] == {"tile": 2}
    assert counts(result)["walk"]["ran"] == {"loop": 1}
    assert counts(result)["ns::fill<float>"]["ran"] == {"kept": 1}
    assert "broken 700" in result.stdout


def test_kernels_are_switched_by_name(program: Path) -> None:
    switches = "scale=loop, ns::fill<float>=kept, _Z4walkPP4Node=kept, accumulate=kept"
    result = run(program, "5", MODE="migrated", KERNELS=switches)
    assert results(result)[:3] == RIGHT
    # 900 elements are outside what level loop was verified for.
    assert counts(result)["scale"] == {"ran": {"kept": 1, "loop": 1}, "refused": {"loop": 1}}
    assert counts(result)["walk"]["ran"] == {"kept": 1}
    assert result.stderr == ""


def test_bad_switches_are_told_once(program: Path) -> None:
    result = run(program, MODE="fast", KERNELS="scal=kept,walk=tile,fill=quick,zzzzzzzz=kept")
    assert "TILE_MIGRATE_MODE=fast: not kept, migrated, check or record" in result.stderr
    assert "no kernel is named 'scal'; near: scale" in result.stderr
    assert "no kernel is named 'zzzzzzzz'\n" in result.stderr
    assert "'fill=quick' is not KERNEL=kept, tile, loop" in result.stderr
    assert "walk has no implementation of kind tile: runs as loop" in result.stderr
    assert result.stderr.count("zzzzzzzz") == 1


def check(
    program: Path, tmp_path: Path, planted: str, **switches: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, dict[str, Any]], list[dict[str, Any]]]:
    report = tmp_path / "check.jsonl"
    result = run(program, planted, MODE="check", CHECK_REPORT=str(report), **switches)
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    summary = {line["kernel"]: line for line in lines if line["event"] == "summary"}
    return result, summary, [line for line in lines if line["event"] != "summary"]


def test_check_goes_on_with_what_the_kept_code_computes(program: Path, tmp_path: Path) -> None:
    result, summary, _ = check(program, tmp_path, "7")
    assert result.returncode == 0
    assert results(result) == [*RIGHT, BROKEN_KEPT]
    assert summary["scale"]["different"] == 2


def test_check_names_the_first_differing_element(program: Path, tmp_path: Path) -> None:
    result, summary, events = check(program, tmp_path, "5")
    first = events[0]
    assert (first["kernel"], first["launch"], first["kind"]) == ("scale", 1, "tile")
    assert (first["argument"], first["index"], first["element"]) == ("x", 5, "float32")
    assert (first["kept"], first["migrated"], first["differing"]) == ("26", "27", 1)
    assert first["grid"] == [8, 1, 1] and first["block"] == [128, 1, 1]
    assert first["arguments"]["n"] == "900"
    assert "check: scale, launch 1: x[5] (float32) is 26 kept, 27 as tile" in result.stderr
    assert summary["walk"] | {"equal": 1, "different": 0} == summary["walk"]


def test_check_follows_pointers_in_memory(program: Path, tmp_path: Path) -> None:
    _, summary, events = check(program, tmp_path, "7")
    assert summary["walk"]["different"] == 1
    [walk] = [event for event in events if event["kernel"] == "walk"]
    assert walk["argument"] == "memory reached through other memory"


def test_check_reports_failures_and_what_it_cannot_check(program: Path, tmp_path: Path) -> None:
    _, summary, events = check(program, tmp_path, "-1")
    assert {"event": "failure", "error": 700}.items() <= events[-1].items()
    assert summary["broken"]["different"] == 1
    kept = summary["only_kept"]
    assert (kept["launches"], kept["unchecked"]) == (2, 2)
    assert kept["reason"] == "no migrated implementation"


def test_check_tolerance_and_exit_status(program: Path, tmp_path: Path) -> None:
    result, summary, _ = check(program, tmp_path, "-1", CHECK_EXIT="9")
    assert result.returncode == 9
    assert summary["accumulate"]["different"] == 1
    assert 0 < summary["accumulate"]["max_relative"] < 1e-11
    switches = {"CHECK_RTOL": "1e-9", "CHECK_EXIT": "9", "KERNELS": "broken=kept"}
    result, summary, _ = check(program, tmp_path, "-1", **switches)
    assert result.returncode == 0
    assert summary["accumulate"]["equal"] == 1


def test_check_of_one_kernel(program: Path) -> None:
    result = run(program, "5", KERNELS="scale=check", MODE="kept")
    assert results(result) == [*RIGHT, BROKEN_KEPT]
    assert "check: scale: 2 launches, 0 equal, 2 different" in result.stderr
    assert "walk" not in result.stderr


def test_record_saves_launches(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "saved"
    result = run(program, MODE="record", RECORD=str(folder), RECORD_LIMIT="1")
    assert results(result) == [*RIGHT, BROKEN_KEPT]
    assert "only_kept, launch 2 is not saved" not in result.stderr  # over the limit
    launch = json.loads((folder / "scale-1" / "launch.json").read_text())
    assert (launch["format"], launch["mangled"], launch["grid"]) == (1, "_Z5scalePfi", [8, 1, 1])
    pointer, size = launch["arguments"]
    assert (pointer["region"], pointer["offset"], pointer["element"]) == (1, 32, "float32")
    assert int.from_bytes(bytes.fromhex(size["value"]), "little") == 900
    assert launch["regions"][0]["symbol"] == "scale_by"
    before, after = (
        np.fromfile(folder / "scale-1" / launch["regions"][1][when], np.float32)
        for when in ("before", "after")
    )
    expected = np.arange(1000, dtype=np.float32)
    assert np.array_equal(before, expected)
    expected[8:908] *= 2
    assert np.array_equal(after, expected)
    assert not (folder / "scale-2").exists()


def test_record_refuses_memory_it_does_not_know(program: Path, tmp_path: Path) -> None:
    result = run(program, MODE="record", RECORD=str(tmp_path / "r"))
    assert (
        "only_kept, launch 2 is not saved: p points to memory that is no allocation"
        in result.stderr
    )
    assert (tmp_path / "r" / "only_kept-1" / "launch.json").exists()
