"""Coverage of a small instrumented library, read through gcov."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from hipify_tile.analyzer.model import KernelFact
from hipify_tile.ir.simt import Kernel
from hipify_tile.ir.span import Span
from hipify_tile.ir.stmt import Leave
from hipify_tile.verify.coverage import Meter, instrument

SOURCE = """\
template <int N> void k(int n, float *y, int i) {
  if (i < n) y[i] = N;
  else y[0] = -1;
}
template void k<4>(int, float *, int);
extern "C" void run(int n, float *y, int i) { k<4>(n, y, i); }
"""
MANGLED = "_Z1kILi4EEviPfi"


def build(tmp_path, text, kernel):
    source = tmp_path / "k.cpp"
    extra = instrument(tmp_path)
    source.write_text(text + extra.text)
    library = tmp_path / "k.so"
    made = tmp_path / "k.o"
    compiler = ["g++", "-O1", "-fPIC", *extra.compile_flags]
    subprocess.run([*compiler, "-c", str(source), "-o", str(made)], check=True)
    link = ["g++", "-shared", str(made), "-o", str(library), *extra.link_flags]
    subprocess.run(link, check=True)
    span = Span("", 1, 1, 0, 0)
    fact = KernelFact("k", "", "k", "k", "k", kernel.mangled, (), "", span, "", kernel)
    return ctypes.CDLL(str(library)).run, Meter(tmp_path, library, fact, kernel)


def at(path, line):
    return Leave("end", span=Span(str(path), line, 1, 0, 0))


@pytest.fixture
def meter(tmp_path):
    return build(tmp_path, SOURCE, Kernel("k", MANGLED, (), (), (), (), ()))


@pytest.mark.skipif(sys.platform != "linux", reason="gcov on Linux")
def test_unreached_arm_on_a_shared_line_is_seen(meter, tmp_path):
    run, coverage = meter
    y = (ctypes.c_float * 4)()
    run(4, y, 9)
    found = coverage.measure()
    assert (str(tmp_path / "k.cpp"), 2) in found.unreached
    run(4, y, 1)
    found = coverage.measure()
    assert not found.unreached and not found.one_sided and found.lines >= 2


@pytest.mark.skipif(sys.platform != "linux", reason="gcov on Linux")
def test_lines_of_an_inlined_function_are_counted(tmp_path):
    source = """\
template <typename T> struct Clamp {
  inline T operator()(T a) const {
    if (a > T(4)) return T(4);
    return a;
  }
};
template <typename Op> void k(float *y, int i, Op op) {
  y[i] = op(y[i]);
}
extern "C" void run(float *y) { k(y, 0, Clamp<float>()); }
"""
    mangled = "_Z1kI5ClampIfEEvPfiT_"
    body = tuple(at(tmp_path / "k.cpp", line) for line in (3, 4))
    run, coverage = build(tmp_path, source, Kernel("k", mangled, (), (), (), (), body))
    y = (ctypes.c_float * 1)(1.0)
    run(y)
    assert (str(tmp_path / "k.cpp"), 3) in coverage.measure().unreached
    y[0] = 9.0
    run(y)
    assert not coverage.measure().unreached


@pytest.mark.skipif(sys.platform != "linux", reason="gcov on Linux")
def test_a_static_instance_is_found_though_compilers_mangle_it_differently(tmp_path):
    source = """\
template <int N> static void k(int *x) { x[0] -= N; }
template <int N> static void k(int *x, int i) {
  if (i) x[0] += N;
}
extern "C" void run(int *x) {
  k<1>(x);
  k<1>(x, 0);
  k<2>(x, 0);
}
"""
    for mangled, unreached in (("_ZL1kILi1EEvPi", False), ("_ZL1kILi2EEvPii", True)):
        folder = tmp_path / mangled
        folder.mkdir()
        run, coverage = build(folder, source, Kernel("k", mangled, (), (), (), (), ()))
        run((ctypes.c_int * 1)(1))
        assert bool(coverage.measure().unreached) == unreached


@pytest.mark.skipif(sys.platform != "linux", reason="gcov on Linux")
def test_a_file_of_the_same_name_covers_nothing(tmp_path):
    text = """\
inline void NAME(volatile int *a) {
  if (*a > 4) *a = 4;
  else *a += 1;
}
"""
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "clamp.h").write_text(text.replace("NAME", folder))
    source = """\
#include "left/clamp.h"
#include "right/../right/clamp.h"
void k(int *y) { left(y), right(y + 1); }
extern "C" void run(int *y) { k(y); }
"""
    files = [tmp_path / folder / "clamp.h" for folder in ("left", "right")]
    body = tuple(at(file, line) for file in files for line in (2, 3))
    run, coverage = build(tmp_path, source, Kernel("k", "_Z1kPi", (), (), (), (), body))
    run((ctypes.c_int * 2)(1, 9))
    run((ctypes.c_int * 2)(9, 9))
    assert coverage.measure().unreached == ((str(files[1]), 3),)
    run((ctypes.c_int * 2)(9, 1))
    assert not coverage.measure().unreached


@pytest.mark.skipif(sys.platform != "linux", reason="gcov on Linux")
def test_an_instance_does_not_cover_another_one(tmp_path):
    source = """\
template <int N> inline void most(volatile int *a) {
  if (*a > N) *a = N;
  else *a += 1;
}
inline void never(volatile int *a) {
  *a += 1;
}
void k(int *y) { most<4>(y), most<5>(y + 1); }
extern "C" void run(int *y) { if (*y < 0) most<6>(y), never(y); else k(y); }
"""
    file = tmp_path / "k.cpp"
    body = tuple(at(file, line) for line in (2, 3, 6))
    run, coverage = build(tmp_path, source, Kernel("k", "_Z1kPi", (), (), (), (), body))
    run((ctypes.c_int * 2)(1, 9))
    run((ctypes.c_int * 2)(9, 9))
    assert coverage.measure().unreached == ((str(file), 3), (str(file), 6))
    run((ctypes.c_int * 2)(9, 1))
    assert coverage.measure().unreached == ((str(file), 6),)
