"""Whole programs, built with g++ alone: every mode passes the program's own check."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from built_programs import FLAGS, SAMPLES, build, needs_gxx, plain_name, run
from expectations import load

pytestmark = needs_gxx()
PROGRAMS = sorted(path.parent.name for path in SAMPLES.glob("*/expected.toml"))
MODES = ("kept", "migrated", "check")


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_mode_gives_the_same_result(
    program: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = build(SAMPLES / program, tmp_path_factory, request.config, *FLAGS.get(program, ()))
    expected = load(SAMPLES / program / "expected.toml")
    switches = {"DEVICES": str(expected["program"]["devices"])}
    checked = tmp_path / "check.jsonl"
    runs = {
        mode: run(app, tmp_path, MODE=mode, CHECK_REPORT=str(checked), **switches) for mode in MODES
    }
    for mode, ran in runs.items():
        assert ran.status == 0, f"{mode}: {ran.out}{ran.err}"
        assert ran.out == runs["kept"].out, mode
    assert runs["kept"].out.rstrip().endswith(": passed")
    events = [json.loads(line) for line in checked.read_text(encoding="utf-8").splitlines()]
    racing = {k["name"] for k in expected["kernel"] if k.get("order") == "any"}
    differing = {plain_name(e["kernel"]) for e in events if e["event"] == "difference"}
    assert differing <= racing, runs["check"].err
    for kernel in expected["kernel"]:
        name, levels = kernel["name"], runs["migrated"].ran(kernel["name"])
        if not kernel.get("launched", True):
            assert not levels, f"{name} was launched"
            continue
        assert levels, f"{name} was not launched"
        assert set(runs["kept"].ran(name)) == {"kept"}
        if kernel["verdict"] == "verified":
            assert "kept" not in levels, f"{name} ran as {levels}"
        elif kernel["verdict"] in ("kept", "unverified"):
            assert set(levels) == {"kept"}, f"{name} is not verified, but ran as {levels}"
    assert runs["migrated"].kernels <= {k["name"] for k in expected["kernel"]}


def test_programs_need_neither_python_nor_cuda(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    app = build(SAMPLES / "01_heat_streams", tmp_path_factory, request.config)
    listing = subprocess.run(["ldd", app], capture_output=True, text=True, check=True).stdout
    assert "libtm_cudart" in listing and "not found" not in listing
    assert not [word for word in ("python", "libcuda.", "nvidia", "tvm") if word in listing]


def test_half_of_the_kernels_can_be_kept(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    program = "09_bfs_pointers"
    app = build(SAMPLES / program, tmp_path_factory, request.config)
    kernels = load(SAMPLES / program / "expected.toml")["kernel"]
    names = sorted(k["name"] for k in kernels if k["verdict"] == "verified")
    plain = run(app, tmp_path, MODE="migrated")
    for kept in (names[::2], names[1::2]):
        chosen = ",".join(f"{name}=kept" for name in kept)
        ran = run(app, tmp_path, KERNELS=chosen)
        assert (ran.status, ran.out) == (0, plain.out), ran.err
        for name in names:
            assert ("kept" in ran.ran(name)) == (name in kept), (name, ran.ran(name))


def test_an_unknown_kernel_name_is_reported(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    app = build(SAMPLES / "09_bfs_pointers", tmp_path_factory, request.config)
    ran = run(app, tmp_path, KERNELS="topdown=kept")
    assert ran.status == 0
    assert ran.err.count("no kernel is named 'topdown'") == 1 and "top_down" in ran.err
