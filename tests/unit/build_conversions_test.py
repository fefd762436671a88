"""Conversions to unsigned integers give the same bits however they are compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hipify_tile.build.conversions import SUPPORT, defined

MAIN = """
#include <stdint.h>
#include <stdio.h>
#include <math.h>
%s
template <class U, class T> static void show(U (*convert)(T)) {
  const T values[] = {0, 1.5, -1, -2.5, 4294967295.0, 4294967296.0, 1e19, 1e30, -1e30, INFINITY,
                      -INFINITY, NAN, 9223372036854775808.0, 18446744073709549568.0, 3000000000.0};
  U out[sizeof values / sizeof *values];
  for (unsigned i = 0; i < sizeof values / sizeof *values; ++i) out[i] = convert(values[i]);
  for (U x : out) printf("%%llu\\n", (unsigned long long)x);
}
__attribute__((noinline)) uint32_t a(float x) { return TO32(x); }
__attribute__((noinline)) uint64_t b(float x) { return TO64(x); }
__attribute__((noinline)) uint32_t c(double x) { return TO32(x); }
__attribute__((noinline)) uint64_t d(double x) { return TO64(x); }
int main() { show(a), show(b), show(c), show(d); }
"""
PLAIN = ("-DTO32(x)=(uint32_t)(x)", "-DTO64(x)=(uint64_t)(x)")
OURS = ("-DTO32(x)=tm_to_uint32(x)", "-DTO64(x)=tm_to_uint64(x)")


def _run(folder: Path, *flags: str) -> str:
    source, app = folder / "a.cpp", folder / "a"
    source.write_text(MAIN % SUPPORT)
    subprocess.run(["g++", "-std=c++17", "-w", *flags, str(source), "-o", str(app)], check=True)
    return subprocess.run([app], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif("avx512f" not in Path("/proc/cpuinfo").read_text(), reason="needs AVX-512")
def test_conversions_are_those_of_processors_without_instructions_for_them(tmp_path: Path) -> None:
    expected = _run(tmp_path, "-O1", *PLAIN)
    assert _run(tmp_path, "-O1", *OURS) == expected
    assert _run(tmp_path, "-O3", "-march=x86-64-v4", *OURS) == expected
    assert _run(tmp_path, "-O3", "-march=x86-64-v4", *PLAIN) != expected


def test_only_floats_are_converted_so() -> None:
    types = {"f": "float", "d": "double", "i": "int32_t", "u": "uint64_t"}
    rows = ["uint64_t a = ((uint64_t)f[i]);", "uint32_t b = ((uint32_t)(d + f));"]
    rows += ["uint32_t c = ((uint32_t)(i + 1));", "u = ((uint64_t)c);"]
    rows += ["for (int32_t k = 0; k < i; ++k) {", "u = ((uint64_t)k);", "}"]
    assert [line.strip() for line in defined(rows, types)] == [
        "uint64_t a = tm_to_uint64(f[i]);",
        "uint32_t b = tm_to_uint32((d + f));",
        "uint32_t c = ((uint32_t)(i + 1));",
        "u = ((uint64_t)c);",
        "for (int32_t k = 0; k < i; ++k) {",
        "u = ((uint64_t)k);",
        "}",
    ]


def test_what_cannot_be_read_stays() -> None:
    rows = ["goto somewhere with (uint32_t)x;"]
    assert defined(rows, {"x": "float"}) == rows
