"""Launches that a formatter spelled `<< <g, b >> >` are launches, in headers too."""

from pathlib import Path

from hipify_tile.analyzer.analyze import analyze_unit
from hipify_tile.analyzer.inventory_text import joined
from hipify_tile.analyzer.model import CompileUnit

HEADER = b"""\
#pragma once
template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
inline void scale_all(float *x) { scale<float> << <1, 64 >> >(x, 2.0f); }
"""
SOURCE = b"""\
#include "kernels.cuh"
template <class T> struct Box { T x; };
__global__ void add(int *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] += n << 1; }
int main() {
  Box<Box<Box<int> > > boxes{};
  int *x = nullptr;
  const char *text = "a << <b >> >(c)";
  add << <4 + boxes.x.x.x, 32 >> >(x, 8 >> 1);
  scale_all((float *)x);
  return text[0] == 0;
}
"""


def test_offsets_and_literals_stay() -> None:
    changed = joined(SOURCE)
    assert len(changed) == len(SOURCE)
    assert (
        changed.count(b"<<< 4") == 1
        and changed.count(b"<<<") == 1
        and b'"a << <b >> >(c)"' in changed
    )
    assert joined(changed) == changed


def test_streams_are_no_launches() -> None:
    source = SOURCE + b'int f() { cout << "a" << b < c; cout << /* */ < d; cin >> e > f; }\n'
    assert joined(source) == joined(SOURCE) + source[len(SOURCE) :]


def test_analysis_sees_them(tmp_path: Path) -> None:
    (tmp_path / "kernels.cuh").write_bytes(HEADER)
    path = tmp_path / "a.cu"
    path.write_bytes(SOURCE)
    analysis = analyze_unit(CompileUnit(str(path), str(tmp_path), root=str(tmp_path)))
    assert not analysis.diagnostics
    assert sorted(k.spelling for k in analysis.kernels if k.kernel) == ["add", "scale<float>"]
    assert len(analysis.launches) == 2
