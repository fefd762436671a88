"""Programs whose launches, allocations or processes go wrong on purpose, and many host threads."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_programs import build, needs_gxx, run

pytestmark = needs_gxx()
FAULTS = Path(__file__).parent / "faults"
MODES = ("kept", "migrated")


def _app(name: str, factory: pytest.TempPathFactory, config: pytest.Config) -> Path:
    return build(FAULTS / f"{name}.cu", factory, config)


@pytest.mark.parametrize("mode", MODES)
def test_allocations_fail_when_memory_is_used_up(
    mode: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = _app("allocation", tmp_path_factory, request.config)
    ran = run(app, tmp_path, MODE=mode, MEMORY=str(64 << 20))
    assert (ran.status, ran.out) == (0, "allocation: 0 wrong\n"), ran.err


@pytest.mark.parametrize("how", ["address", "assert", "trap"])
@pytest.mark.parametrize("mode", MODES)
def test_a_faulting_kernel_is_an_error_that_stays(
    how: str,
    mode: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = _app("faulting_kernel", tmp_path_factory, request.config)
    ran = run(app, tmp_path, how, MODE=mode)
    assert (ran.status, ran.out) == (0, f"faulting_kernel: {how}, 0 wrong\n"), ran.err
    assert ("check_positive" in ran.err) == (how == "assert")


@pytest.mark.parametrize("mode", MODES)
def test_a_host_program_may_fork(
    mode: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = _app("forking_host", tmp_path_factory, request.config)
    ran = run(app, tmp_path, MODE=mode, timeout=60)
    assert (ran.status, ran.out) == (0, "forking_host: 0 wrong\n"), ran.err


@pytest.mark.parametrize(
    ("mode", "seconds"),
    [
        ("kept", "1"),
        ("migrated", "2"),
        pytest.param("migrated", "60", marks=pytest.mark.full),
    ],
)
def test_many_host_threads_lose_nothing(
    mode: str,
    seconds: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = _app("many_threads", tmp_path_factory, request.config)
    ran = run(app, tmp_path, seconds, MODE=mode, timeout=60 + 3 * float(seconds))
    assert (ran.status, ran.out) == (0, "many_threads: 64 threads on 16 streams, 0 wrong\n"), (
        ran.err
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_hundred_thousand_launches_leak_nothing(
    mode: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    app = _app("many_threads", tmp_path_factory, request.config)
    ran = run(app, tmp_path, "launches", "100000", MODE=mode)
    assert ran.status == 0, ran.out + ran.err
