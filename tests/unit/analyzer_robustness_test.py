import pickle
import subprocess
import sys

import pytest
from analyzer_units import analyze, cache_folder

from hipify_tile.analyzer import clang_parse
from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit

BROKEN = """
#include "not_here.h"
#include <cstdio>
struct S { Unknown u; float f; };
__global__ void uses(S s, float* a) { a[0] = s.f; }
MISSING_MACRO(x) __global__ void gone(float* a) { a[0] = 1; }
__global__ void ok(float* a, int n) { for (int i = 0; i < n; ++i) a[i] = 1; }
#if 0
__global__ void dead(float* a) { a[0] = 1; }
#endif
// __global__ void comment()
__device__ float helper(float x) { return undefined_thing(x); }
__global__ void calls(float* a) { a[0] = helper(a[1]); }
int main() { float* p; cudaMalloc(&p, 4); lost<<<1, 2>>>(p); ok<<<1, 2>>>(p, 3); }
"""


def test_an_error_costs_only_what_it_touches(tmp_path):
    found = analyze(tmp_path, BROKEN)
    verdicts = {k.name: (k.kernel is not None, k.unparsed) for k in found.kernels}
    assert verdicts == {
        "uses": (False, True),
        "ok": (True, False),
        "calls": (False, True),
        "gone": (False, True),
    }
    assert {d.code for k in found.kernels for d in k.diagnostics} == {"TM0004"}
    assert found.files[0].status == "partial"
    codes = [d.code for d in found.diagnostics]
    assert codes.count("TM0001") == 1 and codes.count("TM1202") == 1
    missing = found.diagnostics[0]
    assert "not_here.h" in missing.headline and "-I" in missing.help
    assert [x.kernel_name for x in found.launches] == ["ok"]


def test_an_error_in_an_instance_is_the_instances(tmp_path):
    found = analyze(
        tmp_path,
        """
struct A { int x; };
struct B {};
template <class T> __device__ int inner(T t) { return t.x; }
template <class T> __global__ void k(int* a, T t) { a[0] = inner(t); }
int main() { k<<<1, 1>>>(nullptr, A()); k<<<1, 1>>>(nullptr, B()); }
""",
    )
    bad = [k for k in found.kernels if k.unparsed]
    assert {k.spelling for k in bad} >= {"k<B>"}
    assert not any(k.kernel for k in bad)


def test_a_missing_include_inside_a_kernel_is_the_kernels(tmp_path):
    text = '__global__ void k(int* a) {\n#include "body.inc"\n}\n'
    text += "__global__ void other(int* a) { a[0] = 1; }\n"
    found = analyze(tmp_path, text)
    assert [(k.name, k.unparsed) for k in found.kernels] == [("k", True), ("other", False)]


def test_one_header_has_one_name(tmp_path):
    (tmp_path / "inc").mkdir()
    header = "#pragma once\n__global__ void k(int* a) { a[0] = 1; }\n"
    (tmp_path / "inc/k.cuh").write_text(header)
    text = '#include "../inc/k.cuh"\nint main() { auto f = [] { k<<<1, 2>>>(nullptr); }; f(); }\n'
    found = analyze(tmp_path, text, "src/a.cu")
    assert [k.id for k in found.kernels] == ["inc/k.cuh:k"]
    assert found.user_files == (str(tmp_path / "src/a.cu"), str(tmp_path / "inc/k.cuh"))
    assert [x.kernel_name for x in found.launches] == ["k"]


def test_files_that_are_no_source(tmp_path):
    image = analyze(tmp_path, b"\x89PNG\0\1", "x.cuh")
    assert [d.code for d in image.diagnostics] == ["TM0003"] and image.files[0].status == "unparsed"
    gone = analyze_unit(CompileUnit(str(tmp_path / "gone.cu"), str(tmp_path)), cache=cache_folder())
    assert [d.code for d in gone.diagnostics] == ["TM0003"]
    empty = analyze(tmp_path, "", "empty.cu")
    assert empty.files[0].status == "parsed" and not empty.diagnostics


def test_a_unit_pickles(tmp_path):
    found = analyze(tmp_path, BROKEN)
    assert pickle.loads(pickle.dumps(found)) == found


def test_without_system_headers(tmp_path, monkeypatch):
    fallback = clang_parse.SystemHeaders(("-nostdinc", "-nostdinc++"), found=False)
    monkeypatch.setattr(clang_parse, "system_headers", lambda: fallback)
    found = analyze(
        tmp_path,
        "#include <cmath>\n__global__ void k(float* a, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = sqrtf(a[i]); }\n"
        "int main() { k<<<1, 32>>>(nullptr, 0); }\n",
    )
    assert [k.kernel is not None for k in found.kernels] == [True]
    assert "TM0007" in [d.code for d in found.diagnostics]


def test_headers_of_a_gcc_that_has_none_are_passed_over(tmp_path, monkeypatch):
    (tmp_path / "x86_64-linux-gnu/99").mkdir(parents=True)
    asked = []

    def finds(args):
        asked.append(args)
        return len(asked) == 3

    (tmp_path / "x86_64-linux-gnu/12").mkdir()
    monkeypatch.setattr(clang_parse, "_finds_headers", finds)
    headers = clang_parse.system_headers(str(tmp_path))
    assert headers.found and headers.args[0].endswith("/12")
    assert asked[1][0].endswith("/99")


WORK = """
import sys
from pathlib import Path
from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.model import CompileUnit
found = analyze_unit(CompileUnit(sys.argv[1], "."), cache=Path(sys.argv[2]))
print(len(found.kernels), found.kernels[0].kernel is not None, len(found.diagnostics))
"""


def test_two_processes_fill_one_cache_and_damage_is_survived(tmp_path):
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k(int* a) { a[0] = 1; }\n")
    command = [sys.executable, "-c", WORK, str(source), str(tmp_path / "cache")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [p.communicate(timeout=120)[0].split() for p in both] == [["1", "True", "0"]] * 2
    (precompiled,) = (tmp_path / "cache/pch").glob("*.pch")
    assert not list((tmp_path / "cache/pch").glob("*.tmp"))
    precompiled.write_bytes(precompiled.read_bytes()[:5000])
    again = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    assert again.stdout.split() == ["1", "True", "0"]


@pytest.mark.parametrize("define", ["", "-DWIDE"])
def test_macros_of_the_command_line_reach_the_kernel(tmp_path, define):
    text = "#ifdef WIDE\ntypedef double T;\n#else\ntypedef float T;\n#endif\n"
    text += "__global__ void k(T* a) { a[0] = 1; }\n"
    found = analyze(tmp_path, text, args=(define,) if define else ())
    expected = "float64" if define else "float32"
    assert found.kernels[0].kernel.buffers[0].dtype.name == expected
