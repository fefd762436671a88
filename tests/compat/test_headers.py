"""Our headers stand alone: each compiles first in a file, as C++, and as C where C may."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from hipify_tile.compat import include_dir

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
HOST = ("cuda_runtime_api.h", "cuda_runtime.h", "driver_types.h", "vector_types.h")
PAIRED = (*HOST, "vector_functions.h", "cuda_fp16.h", "tm_rewritten.h", "tm_launch.h")
# Declarations for machines without system headers, for libclang only.
NOT_CPP = {"tm_no_system_headers.h"}


def errors(text: str, language: str) -> str:
    standard = "-std=c++17" if language == "c++" else "-std=c11"
    command = ["g++" if language == "c++" else "gcc", standard, "-Wall", "-fsyntax-only"]
    ran = subprocess.run(
        [*command, f"-I{include_dir()}", "-x", language, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stderr if ran.returncode or ran.stderr else ""


@pytest.mark.parametrize("header", HOST)
def test_host_headers_compile_first(header: str) -> None:
    assert errors(f'#include "{header}"\nint main() {{ return 0; }}\n', "c++") == ""


@pytest.mark.parametrize("header", ("cuda_runtime_api.h", "tm_launch.h"))
def test_headers_are_c(header: str) -> None:
    assert errors(f'#include "{header}"\nint main(void) {{ return 0; }}\n', "c") == ""


def test_host_code_is_not_device_code() -> None:
    text = "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n"
    text += "#if defined(__CUDACC__)\n#error device\n#endif\n"
    assert errors(text, "c++") == ""
    assert "device" in errors(text.replace("cuda_runtime.h", "tm_cuda_prelude.h"), "c++")


@pytest.mark.full
def test_every_header_compiles_first() -> None:
    names = {p.name for p in Path(include_dir()).glob("*.h")} - NOT_CPP
    found = {name: errors(f'#include "{name}"\n', "c++") for name in sorted(names)}
    assert {name: text for name, text in found.items() if "error" in text} == {}


@pytest.mark.full
@pytest.mark.parametrize("pair", tuple(itertools.permutations(PAIRED, 2)))
def test_headers_compile_in_any_order(pair: tuple[str, str]) -> None:
    assert errors("".join(f'#include "{name}"\n' for name in pair), "c++") == ""
