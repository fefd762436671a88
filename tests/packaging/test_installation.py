"""What is installed: the package under one name, its data, and a wheel that works on its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLEAN = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["compat", "backend"])
def test_symlinks_let_type_checkers_see_the_installed_tree(name: str) -> None:
    link = ROOT / "hipify_tile" / name
    assert link.is_symlink()
    assert os.readlink(link) == f"../{name}"


def test_no_second_identity_of_compat_and_backend() -> None:
    code = (
        "import sys, hipify_tile.compat, hipify_tile.backend\n"
        "assert not {'compat', 'backend'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], cwd="/", check=True)


def test_headers_and_native_sources_are_package_data() -> None:
    code = (
        "from importlib.resources import files\n"
        "root = files('hipify_tile.compat')\n"
        "assert root.joinpath('include/cuda_runtime.h').is_file()\n"
        "assert files('hipify_tile.report').joinpath('schema1.json').is_file()\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], cwd="/", check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = ["--no-deps", "--no-build-isolation", f"--config-settings=build-dir={out}/build"]
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), *build, "-q", "-w", str(out)]
    subprocess.run(command, check=True)
    (built,) = out.glob("*.whl")
    return built


def _files(folder: Path) -> list[Path]:
    found = [p for p in folder.rglob("*") if p.is_file()]
    assert found
    return found


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_at_top_level(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"hipify_tile"}
    for needed in (
        "hipify_tile/py.typed",
        "hipify_tile/cli/app.py",
        "hipify_tile/compat/include/cuda_runtime.h",
        "hipify_tile/compat/runtime/src/gpu/registration.cpp",
        "hipify_tile/compat/runtime/src/launch/choice.cpp",
        "hipify_tile/report/schema1.json",
        "hipify_tile/cmake/HipifyTileConfig.cmake",
        "hipify_tile/cmake/tile_migrate.mk",
    ):
        assert needed in names
    headers = {p.relative_to(ROOT).as_posix() for p in _files(ROOT / "compat" / "include")}
    pages = {p.name for p in _files(ROOT / "docs" / "diagnostics")}
    assert {f"hipify_tile/{header}" for header in headers} <= set(names)
    assert {f"hipify_tile/diagnostics/pages/{page}" for page in pages} <= set(names)
    assert any(name.startswith("hipify_tile/compat/lib/") for name in names), "no native part"
    assert not [name for name in names if name.startswith("hipify_tile/tests")]
    tests = [name for name in names if "/test_" in name or name.endswith("_test.py")]
    assert not tests


@pytest.mark.slow
def test_wheel_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """Install the wheel alone; its dependencies come from this environment's site-packages."""
    env = tmp_path / "venv"
    venv.create(env, with_pip=False)
    python = env / "bin" / "python"
    install = ["-m", "pip", "--python", str(python), "install", "--no-deps", "-q", str(wheel)]
    subprocess.run([sys.executable, *install], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = env / "lib" / version / "site-packages"
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    program = env / "bin" / "tile-migrate"
    shown = subprocess.run(
        [program, "--version"],
        cwd=tmp_path,
        env=CLEAN,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == f"tile-migrate {PROJECT['project']['version']}"
    explained = subprocess.run(
        [program, "explain", "TM1204"], cwd=tmp_path, env=CLEAN, capture_output=True, check=False
    )
    assert explained.returncode == 0 and b"barrier" in explained.stdout
    sample = tmp_path / "01_saxpy"
    shutil.copytree(ROOT / "samples" / "cuda" / "01_saxpy", sample)
    report = tmp_path / "report"
    result = subprocess.run(
        [program, sample, "--verify", "--report", "--report-dir", report, "--no-cache", "-q"],
        cwd=tmp_path,
        env={**CLEAN, "PATH": f"{env / 'bin'}:{CLEAN['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    kernels = json.loads((report / "report.json").read_text(encoding="utf-8"))["kernels"]
    assert kernels and {k["verdict"] for k in kernels} == {"verified"}
    assert (report / "index.html").is_file()
    code = (
        "import hipify_tile, importlib.util\n"
        "assert not any(map(importlib.util.find_spec, ('compat', 'backend')))\n"
        "print(hipify_tile.__file__)\n"
    )
    where = subprocess.run(
        [python, "-c", code],
        cwd=tmp_path,
        env=CLEAN,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(site) in where.stdout
