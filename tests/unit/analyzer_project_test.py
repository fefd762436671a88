import json
import os
import shlex
from pathlib import Path

import pytest

from hipify_tile.compile_commands import Command, translate
from hipify_tile.config import Config, load
from hipify_tile.project import discover

KERNEL = "__global__ void k(int* a) { a[0] = 1; }\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(units, root):
    return [os.path.relpath(u.path, root) for u in units]


def test_nvcc_flags(tmp_path):
    tree(tmp_path, {"rsp": '-isystem=/opt/x -DA="1 2" -I inc @more', "more": "-UZ"})
    line = (
        "ccache /usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -ccbin=g++-12 -DFOO=7 "
        "-D BAR=1 --options-file rsp -I/abs -isystem sys --include-path=a,b "
        "--generate-code=arch=compute_80,code=[compute_80,sm_80] -gencode arch=x,code=y "
        "-arch sm_80 --expt-relaxed-constexpr -Xcompiler=-fPIC,-DQ -Xcompiler -O3 -std=c++20 -O3 "
        "-rdc=true -x cu -c k.cu -o k.o -MD -MT a -MF d --use_fast_math -include pre.h -ccbin g++"
    )
    result = translate(Command("k.cu", str(tmp_path), tuple(shlex.split(line))))
    root = str(tmp_path)
    assert result.cuda
    assert result.args == (
        "-DFOO=7", "-DBAR=1", "-isystem", "/opt/x", "-DA=1 2", f"-I{root}/inc", "-UZ", "-I/abs",
        "-isystem", f"{root}/sys", f"-I{root}/a", f"-I{root}/b", "-DQ", "-std=c++20", "-include",
        "pre.h",
    )  # fmt: skip
    assert result.dropped == (
        "-ccbin=g++-12", "--generate-code=arch=compute_80,code=[compute_80,sm_80]",
        "-gencode arch=x,code=y", "-arch sm_80", "-fPIC", "-O3", "-rdc=true", "--use_fast_math",
        "-ccbin g++",
    )  # fmt: skip


def test_include_folders_of_a_toolkit_are_dropped(tmp_path):
    tree(tmp_path, {"tk/cuda_runtime_api.h": "", "tk/crt/host_config.h": "", "own/a.h": ""})
    words = ("nvcc", "-Itk", "-isystem", "tk", "-Iown", "a.cu")
    result = translate(Command("a.cu", str(tmp_path), words))
    assert result.args == (f"-I{tmp_path}/own",)
    assert result.dropped == (f"-I {tmp_path}/tk", f"-isystem {tmp_path}/tk")


def test_old_dialects_are_raised_and_a_missing_response_file_is_listed(tmp_path):
    result = translate(Command("a.cu", str(tmp_path), ("nvcc", "--std", "c++11", "@gone", "a.cu")))
    assert result.args == ("-std=c++17",)
    assert result.dropped == ("-std=c++11", "@gone")


def test_discovery(tmp_path):
    tree(
        tmp_path,
        {
            "a.cu": '#include "ops.h"\n#include <lib/deep.cuh>\n' + KERNEL,
            "nested/b.cu": KERNEL,
            "src/ops.h": "#pragma once\n",
            "vendor/include/lib/deep.cuh": KERNEL,
            "lonely.cuh": KERNEL,
            "plain.h": "int f();\n",
            "host.c": "void f(void) { cublasCreate(0); } /* <<< */\n",
            "other.cpp": "int main() { return 0; } // cudaMalloc(\n",
            ".hidden/c.cu": KERNEL,
            "build/CMakeCache.txt": "",
            "build/gen.cu": KERNEL,
            "skip/d.cu": KERNEL,
        },
    )
    (tmp_path / "e.cu").mkdir()
    (tmp_path / "image.cuh").write_bytes(b"\x89PNG\0")
    (tmp_path / "empty.cu").write_bytes(b"")
    (tmp_path / "nested/loop").symlink_to(tmp_path)
    project = discover([tmp_path], Config(root=str(tmp_path), exclude=("skip",)))
    assert names(project.units, tmp_path) == [
        "a.cu", "empty.cu", "host.c", "nested/b.cu", "lonely.cuh",
    ]  # fmt: skip
    assert names(project.headers, tmp_path) == ["vendor/include/lib/deep.cuh"]
    assert [(d.code, os.path.basename(d.span.file)) for d in project.diagnostics] == [
        ("TM0003", "image.cuh")
    ]
    unit = project.units[0]
    assert str(tmp_path / "src") in unit.args
    assert str(tmp_path / "vendor/include") in unit.args
    assert [u.language for u in project.units] == ["cuda", "cuda", "c", "cuda", "cuda"]


def test_a_name_with_two_places_is_not_guessed(tmp_path):
    tree(tmp_path, {"a.cu": '#include "x.h"\n' + KERNEL, "p/x.h": "", "q/x.h": ""})
    (unit,) = discover([tmp_path]).units
    assert str(tmp_path / "p") not in unit.args and str(tmp_path / "q") not in unit.args


def test_compile_database(tmp_path):
    tree(tmp_path, {"src/a.cu": KERNEL, "src/b.cpp": KERNEL, "src/c.cu": KERNEL})
    commands = [
        {"directory": str(tmp_path), "file": "src/a.cu", "command": "nvcc -Iinc -O2 -c src/a.cu"},
        {
            "directory": str(tmp_path / "src"),
            "file": "b.cpp",
            "arguments": ["nvcc", "-x", "cu", "-DB", "b.cpp"],
        },
    ]
    tree(tmp_path, {"build/compile_commands.json": json.dumps(commands)})
    project = discover([tmp_path / "src"], clang_args=["-DMINE"])
    by_name = {Path(u.path).name: u for u in project.units}
    assert by_name["a.cu"].args == (f"-I{tmp_path}/inc", "-DMINE")
    assert by_name["b.cpp"].args == ("-DB", "-DMINE") and by_name["b.cpp"].language == "cuda"
    assert "-DMINE" in by_name["c.cu"].args
    assert [(d.code, d.headline) for d in project.diagnostics] == [
        ("TM0005", "flag -O2 was dropped (1 file)")
    ]
    broken = tree(tmp_path / "other", {"compile_commands.json": "{", "a.cu": KERNEL})
    assert [d.code for d in discover([broken]).diagnostics] == ["TM0006"]


def test_nothing_found(tmp_path):
    assert [d.code for d in discover([tmp_path]).diagnostics] == ["TM0009"]
    assert [d.code for d in discover([tmp_path / "gone.cu"]).diagnostics] == ["TM0003"]


def test_config(tmp_path):
    tree(
        tmp_path,
        {
            "pyproject.toml": '[tool.tile-migrate]\nexclude = ["third_party/"]\njobs = 3\n'
            'clang-args = ["-DX"]\n[tool.tile-migrate.verify]\ninputs = 2\ntime-limit = 1.5\n'
            '[tool.tile-migrate.per-file-ignores]\n"gen/*.cu" = ["TM2002"]\n',
        },
    )
    (tmp_path / "sub").mkdir()
    config, problems = load(tmp_path / "sub")
    assert problems == ()
    assert (config.jobs, config.clang_args, config.verify.inputs) == (3, ("-DX",), 2)
    assert config.verify.time_limit == 1.5 and config.root == str(tmp_path)
    assert config.excludes(tmp_path / "third_party/deep/a.cu")
    assert not config.excludes(tmp_path / "src/a.cu")
    assert config.ignored_codes(tmp_path / "gen/a.cu") == {"TM2002"}


@pytest.mark.parametrize(
    ("text", "headline", "help", "line"),
    [
        ("seed = 1\nexlude = []\n", "there is no setting `exlude`", "write `exclude`", 2),
        ("clang_args = []\n", "there is no setting `clang_args`", "write `clang-args`", 1),
        ("[verify]\ninput = 3\n", "there is no setting `input`", "write `inputs`", 2),
        ("jobs = -1\n", "`jobs` has to be a whole number, zero or more", "", 1),
        (
            'target = "gpu"\n',
            "`target` has to be one of cuda, hip, metal, webgpu, cpu, ascend",
            "",
            1,
        ),
        ("verify = 3\n", "`verify` has to be a table", "", 1),
    ],
)
def test_bad_config(tmp_path, text, headline, help, line):
    tree(tmp_path, {"tile-migrate.toml": text})
    _, (problem,) = load(tmp_path)
    assert (problem.code, problem.headline, problem.help) == ("TM0006", headline, help)
    assert problem.span.line == line


def test_config_that_is_no_toml(tmp_path):
    tree(tmp_path, {"tile-migrate.toml": "jobs = [\n"})
    config, (problem,) = load(tmp_path)
    assert problem.code == "TM0006" and config == Config(root=str(tmp_path))
