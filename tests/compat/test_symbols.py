"""The table of the runtime's symbols, and that the libraries are what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hipify_tile.compat import include_dir, library_path, runtime_source_dir
from hipify_tile.compat.symbols import Status, status_of, table

ROOT = Path(__file__).parents[2]
needs_tools = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("nm")), reason="needs g++ and nm"
)


def rows() -> dict[str, Status]:
    return {s.name: s.status for s in table().values() if s.library == "cudart"}


def exported(library: str) -> dict[str, str]:
    """Names and version nodes of the dynamic symbols that a library defines."""
    command = ["nm", "-D", "--defined-only", str(library_path(library))]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = (line.split()[-1].replace("@@", "@").partition("@") for line in out.splitlines())
    return {name: node for name, _, node in names}


@needs_tools
def test_the_library_exports_every_name_under_cudas_node() -> None:
    found = exported("libcudart.so.13")
    assert len(rows()) > 450
    assert {name: found.get(name) for name in rows()} == dict.fromkeys(rows(), "libcudart.so.13")
    assert exported("cudart").keys() >= rows().keys()
    assert set(exported("cudart").values()) == {""}


@needs_tools
def test_the_library_for_cuda_12_leaves_out_what_changed() -> None:
    found = exported("libcudart.so.12")
    missing = rows().keys() - found.keys()
    assert "cudaMemAdvise" in missing and len(missing) < 20
    assert {found[name] for name in rows().keys() - missing} == {"libcudart.so.12"}


def test_files_of_the_sources_are_what_the_table_gives() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "runtime_symbols.py"), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_implemented_names_have_a_definition_and_refused_ones_have_none() -> None:
    folder = runtime_source_dir() / "cudart"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.cpp"))
    text += (folder / "twins.inc").read_text(encoding="utf-8")
    defined = set(re.findall(r"^TM_EXPORT [\w \n*]*?\b(\w+)\(", text, re.MULTILINE))
    defined |= set(re.findall(r"^TM_TWIN\([^,]+, (\w+),", text, re.MULTILINE))
    served = {name for name, status in rows().items() if status is Status.SERVED}
    assert served - defined == set()
    assert (rows().keys() - served) & defined == set()


def test_public_functions_are_declared() -> None:
    text = "".join(
        (include_dir() / f"tm_runtime_{part}.h").read_text(encoding="utf-8")
        for part in ("functions", "refused", "templates")
    )
    served = {name for name, status in rows().items() if status is Status.SERVED}
    public = {name for name in served if name.startswith("cuda") and "_pt" not in name}
    assert {name for name in public if f"{name}(" not in text} == set()


def test_status_of_a_call() -> None:
    assert status_of("cudaMalloc") is Status.SERVED
    assert status_of("cudaLaunchKernelEx") is Status.SERVED
    assert status_of("cudaCreateTextureObject") is Status.REFUSED
    assert status_of("cublasSgemm") is Status.UNKNOWN
