"""Cases about files rather than kernels: byte content, names, links, compile databases, headers.

Numbers in the test names are those of the case list in CONTRIBUTING.md.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tool import migrate

Json = dict[str, Any]

KERNEL = """\
__global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
LAUNCH = """\
void run(float *x, float *y, int n) {
    axpy<<<(n + 127) / 128, 128>>>(2.0f, x, y, n);
}
"""


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def tree_hash(root: Path) -> dict[str, str]:
    return {
        str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(root.rglob("*"))
        if p.is_file()
    }


def report_on(
    tree: Path, *args: str | Path, env: dict[str, str] | None = None, status: int | None = None
) -> Json:
    """Analyse ``tree`` without executing; check that nothing in it changed."""
    before = tree_hash(tree)
    file = tree.parent / f"{tree.name}-report.json"
    format = ("--no-cache", "--format", "json", "--output-file", file)
    result = migrate(tree, *format, *args, cwd=tree.parent, env=env)
    assert result.returncode in (0, 1) if status is None else result.returncode == status, (
        result.stderr + result.stdout
    )
    assert tree_hash(tree) == before
    report: Json = json.loads(file.read_text(encoding="utf-8"))
    assert not [d for d in report["diagnostics"] if d["code"].startswith("TM9")]
    return report


def test_04_member_call_in_a_configuration_of_a_crlf_file(tmp_path: Path) -> None:
    text = (
        "#include <vector>\n"
        + KERNEL
        + """\
void run(std::vector<float> &v, float *x, float *y) {
    // blocks of sixty-four
    axpy<<<dim3((unsigned)v.size()), dim3(64)>>>(2.0f, x, y, (int)v.size());
}
"""
    )
    write(tmp_path / "src/main.cu", text.replace("\n", "\r\n"))
    report = report_on(tmp_path / "src", "--no-verify", "-o", tmp_path / "out")
    (launch,) = report["launches"]
    assert launch["line"] == 8
    assert launch["grid"] == "dim3((unsigned)v.size())"
    assert launch["block"] == "dim3(64)"
    (kernel,) = report["kernels"]
    assert (kernel["line"], kernel["verdict"]) == (2, "unverified")


def test_12_no_output_overwrites_another(tmp_path: Path) -> None:
    src = tmp_path / "src"
    write(src / "axpy.cuh", "#pragma once\n" + KERNEL)
    write(src / "axpy.cu", '#include "axpy.cuh"\n' + LAUNCH)
    host = "#include <cuda_runtime.h>\nint sync() { return cudaDeviceSynchronize(); }\n"
    write(src / "axpy.cpp", host)
    for folder, factor in (("one", "2.0f"), ("two", "3.0f")):
        scale = KERNEL.replace("axpy", "scale").replace("a * x[i]", f"{factor} * x[i]")
        write(src / folder / "kernels.cu", scale + LAUNCH.replace("axpy", "scale"))
    report = report_on(src, "--no-verify", "-o", tmp_path / "out")
    assert sorted(k["name"] for k in report["kernels"]) == ["axpy", "scale", "scale"]
    emitted = [p.read_text() for p in sorted((tmp_path / "out").rglob("*.py"))]
    assert sum("def axpy" in text for text in emitted) == 1
    scales = [text for text in emitted if "def scale" in text]
    assert len(scales) == 2
    assert scales[0] != scales[1]


def test_13_sibling_include_linked_folder_and_a_second_run(tmp_path: Path) -> None:
    src = tmp_path / "src"
    write(src / "real/axpy.h", "#pragma once\n" + KERNEL)
    write(src / "real/main.cu", '#include "axpy.h"\n' + LAUNCH)
    (src / "link").symlink_to("real", target_is_directory=True)
    out = tmp_path / "elsewhere/out"
    report = report_on(src, "--no-verify", "-o", out)
    assert [k["name"] for k in report["kernels"]] == ["axpy"]
    first = tree_hash(out)
    assert any(name.endswith(".py") for name in first)
    times = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    report_on(src, "--no-verify", "-o", out)
    assert tree_hash(out) == first
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*.py")}.items() <= times.items()


def test_15_compile_database_of_a_cmake_cuda_project(tmp_path: Path) -> None:
    src = tmp_path / "src"
    needs = "#ifndef BLOCK\n#error BLOCK comes from the build\n#endif\n"
    launch = LAUNCH.replace("128>>>", "BLOCK>>>")
    write(src / "src/main.cu", '#include "axpy.cuh"\n' + needs + launch)
    write(src / "include/axpy.cuh", "#pragma once\n" + KERNEL)
    write(src / "build/includes.rsp", f"-I{src}/include -DBLOCK=64")
    command = (
        "/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler --options-file includes.rsp "
        "-O3 --generate-code=arch=compute_80,code=[compute_80,sm_80] -Xcompiler=-fPIC "
        "--expt-relaxed-constexpr -std=c++17 -x cu -c ../src/main.cu -o main.cu.o"
    )
    entry = {"directory": str(src / "build"), "command": command, "file": "../src/main.cu"}
    write(src / "build/compile_commands.json", json.dumps([entry]))
    report = report_on(src, "-p", src / "build")
    assert [(k["name"], k["verdict"]) for k in report["kernels"]] == [("axpy", "unverified")]
    dropped = [d for d in report["diagnostics"] if d["code"] == "TM0005"]
    assert dropped, report["diagnostics"]
    listed = json.dumps(report)
    assert "generate-code" in listed
    assert "forward-unknown-to-host-compiler" not in json.dumps(dropped)


def test_16_a_missing_header_is_named(tmp_path: Path) -> None:
    write(tmp_path / "src/main.cu", '#include "not_there.h"\n' + KERNEL + LAUNCH)
    report = report_on(tmp_path / "src", status=1)
    (missing,) = [d for d in report["diagnostics"] if d["code"] == "TM0001"]
    assert "not_there.h" in json.dumps(missing)
    assert missing["line"] == 1


def test_16_no_system_headers(tmp_path: Path) -> None:
    text = "#include <cuda_runtime.h>\n#include <cmath>\n" + KERNEL + LAUNCH
    write(tmp_path / "src/main.cu", text)
    report = report_on(tmp_path / "src", "--", "-nostdinc++", "-nostdlibinc")
    assert [(k["name"], k["verdict"]) for k in report["kernels"]] == [("axpy", "unverified")]


@pytest.fixture
def awkward(tmp_path: Path) -> Path:
    """Return a tree of files that are legal on disk and unusual as CUDA source."""
    src = tmp_path / "src"
    good = (KERNEL + LAUNCH).encode()
    write(src / "latin1.cu", b"// r\xe9sum\xe9 \xa9\n" + good.replace(b"axpy", b"latin"))
    write(src / "bom.cu", b"\xef\xbb\xbf" + good.replace(b"axpy", b"marked"))
    write(src / "crlf.cu", good.replace(b"axpy", b"windows").replace(b"\n", b"\r\n"))
    write(src / "picture.cuh", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8)
    write(src / "empty.cu", b"")
    write(src / "no_newline.cu", good.replace(b"axpy", b"unfinished").rstrip(b"\n"))
    write(src / "folder.cu/inside.cu", good.replace(b"axpy", b"inside"))
    return src


def test_30_awkward_files_are_read_and_left_alone(awkward: Path) -> None:
    report = report_on(awkward, "--no-verify", "-o", awkward.parent / "out", env={"LANG": "C"})
    verdicts = {k["name"]: k["verdict"] for k in report["kernels"]}
    names = ("latin", "marked", "windows", "unfinished", "inside")
    assert verdicts == dict.fromkeys(names, "unverified")
    for path in (awkward.parent / "out").rglob("*.py"):
        compile(path.read_bytes(), str(path), "exec")


def test_30_a_large_generated_file(tmp_path: Path) -> None:
    row = ", ".join(str(k % 251) for k in range(4096))
    tables = "\n".join(f"static const unsigned char table_{k}[] = {{{row}}};" for k in range(250))
    text = f"{tables}\n{KERNEL}{LAUNCH}"
    assert len(text) > 4_500_000
    write(tmp_path / "src/generated.cu", text)
    report = report_on(tmp_path / "src")
    assert [(k["name"], k["line"]) for k in report["kernels"]] == [("axpy", 251)]
