"""Unmodified sources through nvcc: the same output as the build by g++, both ways of linking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from built_programs import FLAGS, SAMPLES, build, needs_gxx, run
from expectations import load
from nvcc_programs import WAYS, compile_with_nvcc, library_switches, needs_nvcc, run_plain
from tool import migrate

pytestmark = [pytest.mark.nvcc, needs_gxx(), needs_nvcc()]
HERE = Path(__file__).parent
CASES = HERE / "cases"
PROGRAMS = {
    **{path.parent.name: path.parent for path in SAMPLES.glob("*/expected.toml")},
    **{path.name: path for path in CASES.iterdir() if path.is_dir()},
}
# Two files have a static kernel of one name, and nothing that nvcc registers says which is whose.
AMBIGUOUS = "11_header_contexts"


def kernels(program: Path, folder: Path, *options: str) -> Path:
    """Make the object of a program's kernels."""
    made = folder / "kernels.o"
    flags = [f"-I{program / f[2:]}" for f in FLAGS.get(program.name, ())]
    words = ("build", program, "--kernels-only", "-o", made, *options)
    result = migrate(*words, *(("--", *flags) if flags else ()), cwd=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return made


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {AMBIGUOUS}))
def test_nvcc_and_gxx_make_programs_of_one_result(
    name: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    program = PROGRAMS[name]
    own = build(program, tmp_path_factory, request.config, *FLAGS.get(name, ()))
    expected = program / "expected.toml"
    devices = load(expected)["program"]["devices"] if expected.exists() else 1
    made = kernels(program, tmp_path)
    for way in WAYS:
        app = tmp_path / f"app-{way}"
        compile_with_nvcc(program, app, way, str(made), includes=FLAGS.get(name, ()))
        for mode in ("kept", "migrated", "check"):
            switches = {"MODE": mode, "DEVICES": str(devices)}
            wanted = run(own, tmp_path, **switches)
            got = run(app, tmp_path, loader=library_switches(way), **switches)
            assert (got.status, got.out) == (wanted.status, wanted.out), f"{way} {mode}: {got.err}"
            assert got.status == 0
            launched = {kernel: wanted.ran(kernel) for kernel in wanted.kernels}
            assert {kernel: got.ran(kernel) for kernel in got.kernels} == launched, way


def test_kernels_that_cannot_be_told_apart_do_not_run(tmp_path: Path) -> None:
    program, app, trace = PROGRAMS[AMBIGUOUS], tmp_path / "app", tmp_path / "trace"
    compile_with_nvcc(program, app, "static", str(kernels(program, tmp_path, "--mode", "kept")))
    ran = run_plain(app, tmp_path, TILE_MIGRATE_TRACE=str(trace))
    assert ran.returncode == 1  # the program sees an error
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert {e["detail"] for e in events if e["event"] == "note"} == {"_Z5scalePii"}
    assert not [e for e in events if e["event"] == "kernel"]


@pytest.mark.parametrize("way", sorted(WAYS))
def test_names_of_nvcc_and_gxx_meet(way: str, tmp_path: Path) -> None:
    program = HERE / "nvcc" / "names.cu"
    made = kernels(program, tmp_path, "--mode", "kept")
    app = tmp_path / "app"
    compile_with_nvcc(program, app, way, str(made))
    ran = run_plain(app, tmp_path, **library_switches(way))
    assert (ran.returncode, ran.stdout) == (0, "names: 0 wrong\n"), ran.stderr


def test_kernels_without_code_are_errors_with_a_name(tmp_path: Path) -> None:
    program, app, trace = HERE / "nvcc" / "names.cu", tmp_path / "app", tmp_path / "trace"
    compile_with_nvcc(program, app, "static")
    ran = run_plain(app, tmp_path, TILE_MIGRATE_TRACE=str(trace))
    assert "error: 209 instead of 0" in ran.stdout
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    notes = [e for e in events if e["event"] == "note"]
    kernel = {e["detail"] for e in notes if e["what"] == "kernel without an implementation"}
    assert "plain" in kernel and "_Z11read_hiddenPi" in kernel
    assert "hidden" in {e["detail"] for e in notes if "variable" in e["what"]}


def test_a_library_of_kernels_takes_the_programs_runtime(tmp_path: Path) -> None:
    program, app, library = HERE / "nvcc" / "names.cu", tmp_path / "app", tmp_path / "libkernels.so"
    words = ("build", program, "--kernels-only", "--mode", "kept", "-o", library)
    assert migrate(*words, cwd=tmp_path).returncode == 0
    options = ("-Xlinker", "--no-as-needed", "-Xlinker", str(library))
    compile_with_nvcc(program, app, "shared", *options)
    ran = run_plain(app, tmp_path, **library_switches("shared"))
    assert (ran.returncode, ran.stdout) == (0, "names: 0 wrong\n"), ran.stderr
