"""``tile-migrate run`` and ``bisect``: what a program did, and which kernel breaks it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from built_programs import ROOT, needs_gxx
from hypothesis import given
from hypothesis import strategies as st
from tool import migrate

from hipify_tile.compat import library_path
from hipify_tile.programs.bisection import all_culprits, ddmin

pytestmark = needs_gxx()


@given(st.integers(1, 24), st.data())
def test_ddmin_finds_a_set_of_which_nothing_can_be_left_out(size: int, data: st.DataObject) -> None:
    items = list(range(size))
    wanted = data.draw(st.sets(st.sampled_from(items), min_size=1, max_size=4))
    asked: list[tuple[int, ...]] = []

    def fails(chosen: tuple[int, ...]) -> bool:
        asked.append(chosen)
        return wanted <= set(chosen)

    assert set(ddmin(items, fails)) == wanted
    assert len(asked) == len(set(asked)), "no set is tried twice"


def test_all_culprits_are_found_one_after_the_other() -> None:
    found = all_culprits("abcdefgh", lambda s: "c" in s or {"b", "g"} <= set(s))
    assert {frozenset(c) for c in found} == {frozenset("c"), frozenset("bg")}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the program of six kernels."""
    made = tmp_path_factory.mktemp("switches") / "app"
    runtime = library_path("cudart").parent
    source = ROOT / "tests" / "programs" / "switches" / "main.cpp"
    command = ["g++", "-std=c++17", f"-I{ROOT}/compat/include", str(source), f"-L{runtime}"]
    subprocess.run([*command, "-ltm_cudart", f"-Wl,-rpath,{runtime}", "-o", str(made)], check=True)
    yield made


def test_bisect_names_the_kernel_and_the_launch(app: Path, tmp_path: Path) -> None:
    done = migrate("bisect", "--", app, "c", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "\nc (tile) breaks the program: exit status 1\n" in done.stdout
    assert "launch 1: x[0] is 3 kept, 103 as tile; 1 elements differ" in done.stdout
    assert "TILE_MIGRATE_KERNELS='c=kept'" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_bisect_finds_two_kernels_that_break_it_together(app: Path, tmp_path: Path) -> None:
    done = migrate("bisect", "--format", "json", "--", app, "b+e", cwd=tmp_path)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    (culprit,) = found["culprits"]
    assert [k["kernel"] for k in culprit["kernels"]] == ["b", "e"]
    assert len(found["runs"]) < 20
    assert [r["passed"] for r in found["runs"][:2]] == [True, False]


def test_bisect_of_a_program_that_dies_and_leaves_no_trace(app: Path, tmp_path: Path) -> None:
    done = migrate("bisect", "--", app, "d!", cwd=tmp_path)
    assert done.returncode == 1
    assert "\nd breaks the program: ended by SIGABRT\n" in done.stdout


def test_bisect_says_when_there_is_nothing_to_look_for(app: Path, tmp_path: Path) -> None:
    done = migrate("bisect", "--", app, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1][:36]) == (
        0,
        "the program passes with every kernel",
    )
    done = migrate("bisect", "--judge", "false", "--", app, cwd=tmp_path)
    assert done.returncode == 2
    assert "fails with every kernel kept" in done.stdout


def test_bisect_judges_by_output_or_by_a_command(app: Path, tmp_path: Path) -> None:
    # `quiet` plants nothing; the status of a wrong run is hidden by the shell.
    script = f'"{app}" f; true'
    for words in (("--compare-output",), ("--judge", 'test "$(cat)" = 12')):
        done = migrate("bisect", *words, "--", "/bin/sh", "-c", script, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        assert "f (tile) breaks the program" in done.stdout


def test_bisect_ends_runs_that_do_not(tmp_path: Path) -> None:
    done = migrate("bisect", "--timeout", "0.3", "--", "/bin/sleep", "60", cwd=tmp_path)
    assert done.returncode == 2
    assert "no end within 0 s" in done.stdout


def test_run_passes_status_and_summary_on(app: Path, tmp_path: Path) -> None:
    words = ("--summary", "s.json", "--trace", "t.jsonl", "--kernels", "a=kept", "--mode", "check")
    done = migrate("run", *words, "--", app, "c", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "12\n")
    assert "runtime    linked with the program" in done.stderr
    assert "launches   12 of 6 kernels: 12 kept · 10 tile" in done.stderr
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["status"] == 0 and summary["traced"] and not summary["preloaded"]
    assert summary["calls"]["served"] >= 16 and summary["calls"]["forwarded"] == 0
    assert {k["kernel"]: k["ran"] for k in summary["kernels"]}["a"] == {"kept": 2}
    assert (tmp_path / "t.jsonl").read_text().startswith('{"event": "process"')
    assert migrate("run", "-q", "--", app, "c", cwd=tmp_path).returncode == 1


def test_run_ends_as_the_program_does(app: Path, tmp_path: Path) -> None:
    done = migrate("run", "--", app, "c!", cwd=tmp_path)
    assert done.returncode == -signal.SIGABRT
    assert "ended by SIGABRT" in done.stderr and "did not end by itself" in done.stderr
    assert migrate("run", "--", "no-such-program", cwd=tmp_path).returncode == 2
    assert "stands after --" in migrate("run", app, cwd=tmp_path).stderr
