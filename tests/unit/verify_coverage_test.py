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


@pytest.fixture
def meter(tmp_path):
    return build(tmp_path, SOURCE, Kernel("k", MANGLED, (), (), (), (), ()))


@pytest.mark.skipif(sys.platform != "linux", reason="gcov on Linux")
def test_unreached_arm_on_a_shared_line_is_seen(meter):
    run, coverage = meter
    y = (ctypes.c_float * 4)()
    run(4, y, 9)
    found = coverage.measure()
    assert ("k.cpp", 2) in found.unreached
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
    body = tuple(Leave("end", span=Span("k.cpp", line, 1, 0, 0)) for line in (3, 4))
    run, coverage = build(tmp_path, source, Kernel("k", mangled, (), (), (), (), body))
    y = (ctypes.c_float * 1)(1.0)
    run(y)
    assert ("k.cpp", 3) in coverage.measure().unreached
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
