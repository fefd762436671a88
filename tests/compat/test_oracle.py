"""The reference build: overlays, entries, symbols, failures, cache."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hipify_tile.analyzer.model import (
    CompileUnit,
    KernelFact,
    StrippedBody,
    SymbolFact,
    UnitAnalysis,
)
from hipify_tile.ir.span import Span
from hipify_tile.verify import native
from hipify_tile.verify.native import Arena, Arguments
from hipify_tile.verify.oracle import OracleFailure, OracleLibrary, build_cuda_text, build_oracle
from hipify_tile.verify.overlay import Overlay

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

MAIN = """\
#include "ops.h"
#include "../plain/size.h"
#include <iostream>
namespace ns {
__constant__ float table[4];
__device__ int counter;
template <class T, int N> __global__ void scale(T *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = twice(p[i]) * N + (T)table[i % SIZE];
  if (i == 0) atomicAdd(&counter, 1);
}
}
template <class T> __global__ void shared_sum(const T *x, T *out) {
  extern __shared__ unsigned char raw[];
  __shared__ T last;
  T *s = reinterpret_cast<T *>(raw);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) { last = 0; for (int i = 0; i < (int)blockDim.x; ++i) last += s[i]; }
  __syncthreads();
  out[threadIdx.x] = last;
}
static bool started = (std::cout << "global constructors must not run", true);
int main() {
#ifdef NEVER
  {
#else
  float *p; /* { */ cudaMalloc(&p, 4);
  ns::scale<float, 3><<<1, dim3(4, 1)>>>(p, 4);
#endif
  return 0;
}
"""


def analysis_of(root: Path, text: str, spellings: list[str], args: tuple[str, ...]) -> UnitAnalysis:
    (root / "src" / "inc").mkdir(parents=True)
    (root / "plain").mkdir()
    main, header = root / "src" / "main.cu", root / "src" / "inc" / "ops.h"
    main.write_text(text)
    header.write_text(
        "#pragma once\ntemplate <class T> __device__ T twice(T v) { return v + v; }\n"
        "inline void launch() { int x<<<3; }\n"
    )
    (root / "plain" / "size.h").write_text("#define SIZE 4\n")
    bodies = []
    for path, start in ((main, "int main() {"), (header, "launch() {")):
        if start in path.read_text():
            begin = path.read_text().index(start) + len(start) - 1
            end = path.read_text().rindex("}") + 1
            bodies.append(StrippedBody(str(path), begin, end))
    kernels = []
    for spelling in spellings:
        name = spelling.split("<")[0].split("::")[-1]
        at = text.index(f"{name}(")
        start = text.rindex("__global__", 0, at)
        line = text.count("\n", 0, start) + 1
        end = text.index("\n}", at) + 2
        # The front end's span is the name alone for some kernels: both must do.
        whole = name != "ptx"
        line = line if whole else text.count("\n", 0, at) + 1
        span = Span(str(main), line, 1, start if whole else at, end if whole else at + len(name))
        kernels.append(
            KernelFact(
                f"main.cu:{spelling}", name, name, name, spelling, "", (), "", span, "", None
            )
        )
    span = Span(str(main), 1, 1, 0, 1)
    symbols = (
        SymbolFact("table", "ns::table", "constant", "float[4]", span),
        SymbolFact("counter", "ns::counter", "device", "int", span),
    )
    unit = CompileUnit(str(main), str(root / "src"), args, str(root))
    return UnitAnalysis(
        unit, (), tuple(kernels), (), (), symbols, (str(main), str(header)), tuple(bodies)
    )


ARGS = ("-Iinc", "-std=c++17")
SPELLINGS = ["ns::scale<float, 3>", "shared_sum<double>", "shared_sum<int>"]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_reference_of_a_unit(tmp_path: Path, elsewhere: bool) -> None:
    text = MAIN
    if elsewhere:  # another unit defines the variables
        for declaration in ("__constant__ float table", "__device__ int counter"):
            text = text.replace(declaration, f"extern {declaration}")
    analysis = analysis_of(tmp_path, text, SPELLINGS, ARGS)
    symbols = tuple(replace(s, defined=not elsewhere) for s in analysis.symbols)
    analysis = replace(analysis, symbols=symbols)
    library = build_oracle(analysis, analysis.kernels, tmp_path / "cache")
    assert isinstance(library, OracleLibrary), library
    assert not library.failed
    loaded = library.load()
    address, size = loaded.symbols["ns::table"]
    assert size == 16
    np.ctypeslib.as_array((native.ctypes.c_float * 4).from_address(address))[:] = [1, 2, 3, 4]
    with Arena() as arena:
        p = arena.guarded(16, alignment=4)
        p.view().view(np.float32)[:] = [1, 1, 1, 5]
        status = native.run_kernel(
            loaded.entries["main.cu:ns::scale<float, 3>"],
            (1, 1, 1),
            (32, 1, 1),
            Arguments([p, np.int32(4).tobytes()]),
            arena,
            shared_static=loaded.shared_static,
        )
        assert status.ok, status
        assert p.view().view(np.float32).tolist() == [7, 8, 9, 34]
        counter = native.ctypes.c_int32.from_address(loaded.symbols["ns::counter"][0])
        assert counter.value == 1
        for spelling, dtype in (("double", np.float64), ("int", np.int32)):
            itemsize = np.dtype(dtype).itemsize
            x, out = (arena.guarded(8 * itemsize, alignment=itemsize) for _ in range(2))
            x.view().view(dtype)[:] = np.arange(8)
            status = native.run_kernel(
                loaded.entries[f"main.cu:shared_sum<{spelling}>"],
                (1, 1, 1),
                (8, 1, 1),
                Arguments([x, out]),
                arena,
                shared_static=loaded.shared_static,
                shared_bytes=8 * itemsize,
            )
            assert status.ok, status
            assert (out.view().view(dtype) == 28).all()


def test_second_build_comes_from_the_cache(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, MAIN, SPELLINGS, ARGS)
    first = build_oracle(analysis, analysis.kernels, tmp_path / "cache")
    second = build_oracle(analysis, analysis.kernels, tmp_path / "cache", "g++")
    assert first == second
    assert isinstance(first, OracleLibrary)
    assert len(list(first.path.parent.glob("*.so"))) == 1


def test_one_bad_spelling_spares_the_others(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, MAIN, [*SPELLINGS, "shared_sum<void>"], ARGS)
    library = build_oracle(analysis, analysis.kernels, tmp_path / "cache")
    assert isinstance(library, OracleLibrary), library
    assert list(library.failed) == ["main.cu:shared_sum<void>"]
    assert "error:" in library.failed["main.cu:shared_sum<void>"]
    assert len(library.load().entries) == 3


def test_one_bad_kernel_body_spares_the_others(tmp_path: Path) -> None:
    text = MAIN.replace(
        "static bool", "__global__ void ptx(int *p) {\n  *p = no_such_intrinsic(1);\n}\nstatic bool"
    )
    analysis = analysis_of(tmp_path, text, [*SPELLINGS, "ptx"], ARGS)
    library = build_oracle(analysis, analysis.kernels, tmp_path / "cache")
    assert isinstance(library, OracleLibrary), library
    assert list(library.failed) == ["main.cu:ptx"]
    assert "no_such_intrinsic" in library.failed["main.cu:ptx"]


def test_failure_names_the_first_error(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, '#include "missing.h"\n' + MAIN, SPELLINGS, ARGS)
    result = build_oracle(analysis, analysis.kernels, tmp_path / "cache")
    assert isinstance(result, OracleFailure)
    assert "missing.h" in result.message


def test_overlay_keeps_lines_and_everything_else(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, MAIN, SPELLINGS, ARGS)
    overlay = Overlay.of(analysis, [])
    copies = dict(overlay.files)
    copy = copies[analysis.unit.path].decode()
    assert copy.count("\n") == MAIN.count("\n")
    assert "<<<" not in copy
    assert copy.startswith(MAIN[: MAIN.index("int main")])
    assert Path(analysis.unit.path).read_text() == MAIN


TILELANG_TEXT = """
#include <tl_templates/cuda/atomic.h>
#include <tl_templates/cuda/reduce.h>
extern "C" __global__ void k_kernel(
    const float* __restrict__ A, float* __restrict__ B, int n);
extern "C" __global__ void __launch_bounds__(128, 1) k_kernel(
    const float* __restrict__ A, float* __restrict__ B, int n) {
  __shared__ __align__(16) float sm[128];
  extern __shared__ __align__(1024) float sd[];
  sm[((int)threadIdx.x)] = A[((int64_t)((int)threadIdx.x))];
  sd[((int)threadIdx.x)] = sm[((int)threadIdx.x)] * 0x1p+1f;
  __syncthreads();
  AtomicAdd((&(B[0])), sd[127 - ((int)threadIdx.x)]);
  B[1 + ((int)threadIdx.x)] = __shfl_xor_sync((uint)4294967295, sm[((int)threadIdx.x)], 1, 32);
}
"""


def test_text_printed_by_tilelang(tmp_path: Path) -> None:
    library = build_cuda_text(TILELANG_TEXT, "k_kernel", tmp_path)
    assert isinstance(library, OracleLibrary), library
    loaded = library.load()
    with Arena() as arena:
        a, b = arena.guarded(512, alignment=4), arena.guarded(516, alignment=4)
        a.view().view(np.float32)[:] = np.arange(128)
        status = native.run_kernel(
            loaded.entries["k_kernel"],
            (1, 1, 1),
            (128, 1, 1),
            Arguments([a, b, np.int32(128).tobytes()]),
            arena,
            shared_static=loaded.shared_static,
            shared_bytes=512,
        )
        assert status.ok, status
        got = b.view().view(np.float32)
        assert got[0] == 128 * 127
        assert (got[1:] == (np.arange(128) ^ 1)).all()


DIVISIONS = """
#define CASE(NUMBER, SETUP, INSTRUCTION)                                                     \\
  case NUMBER:                                                                               \\
    __asm__ volatile(SETUP "\\n" INSTRUCTION                                                  \\
                     : "+a"(quotient), "+d"(remainder)                                       \\
                     : "S"(zeros), "c"(2L) : "r8", "r9", "r12", "r13", "memory");            \\
    break;
static long tm_zero_word[2] __asm__("tm_zero_word") __attribute__((used)) = {0, 0};
__global__ void divisions(const char *zeros, long *out) {
  for (int i = 0; i < 14; ++i) {
    long quotient = 1234, remainder = 0;
    switch (i) {
      CASE(0, "xorl %%r8d, %%r8d", "idivl %%r8d")
      CASE(1, "xorl %%r8d, %%r8d", "divq %%r8")
      CASE(2, "", "idivl (%%rsi)")
      CASE(3, "", "idivl 8(%%rsi)")
      CASE(4, "", "idivq 200(%%rsi)")
      CASE(5, "", "divl 8(%%rsi,%%rcx,4)")
      CASE(6, "movq %%rsi, %%r13; movq %%rcx, %%r12", "idivl (%%r13,%%r12,8)")
      CASE(7, "movq %%rsi, %%r12", "idivl (%%r12)")
      CASE(8, "movq %%rsi, %%r13", "divq -8(%%r13)")
      CASE(9, "leaq -16(%%rsi), %%r9", "idivl 0x10(,%%r9,1)")
      CASE(10, "", "idivl tm_zero_word(%%rip)")
      CASE(11, "", "idivw (%%rsi)")
      CASE(12, "movl $77, %%eax", "divb (%%rsi)")
      CASE(13, "movl $77, %%eax; movl $0, %%ecx", "divb %%ch")
    }
    out[2 * i] = quotient;
    out[2 * i + 1] = remainder;
  }
}
"""


def test_every_operand_form_of_a_division(tmp_path: Path) -> None:
    library = build_cuda_text(DIVISIONS, "divisions", tmp_path)
    assert isinstance(library, OracleLibrary), library
    loaded = library.load()
    with Arena() as arena:
        zeros, out = arena.guarded(512, alignment=8), arena.guarded(14 * 16, alignment=8)
        middle = zeros.address + 64
        status = native.run_kernel(
            loaded.entries["divisions"], (1, 1, 1), (1, 1, 1), Arguments([middle, out]), arena
        )
        assert status.ok, status
        got = out.view().view(np.uint64).reshape(14, 2)
        for case in range(14):
            match case:
                case 1 | 4 | 8:
                    expected = (2**64 - 1, 1234)
                case 11:
                    expected = (0xFFFF, 1234)
                case 12 | 13:
                    expected = (77 << 8 | 0xFF, 0)
                case _:
                    expected = (2**32 - 1, 1234)
            assert tuple(int(v) for v in got[case]) == expected, case


def test_inline_ptx_traps_only_where_it_is_executed(tmp_path: Path) -> None:
    source = (
        'static __device__ unsigned lane() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); '
        "return r; }\n"
        "__global__ void k(int *p, int n) { p[0] = n > 3 ? (int)lane() : 5; }\n"
    )
    library = build_cuda_text(source, "k", tmp_path)
    assert isinstance(library, OracleLibrary), library
    loaded = library.load()
    with Arena() as arena:
        p = arena.guarded(4, alignment=4)
        kinds = []
        for n in (1, 7):
            arguments = Arguments([p, np.int32(n).tobytes()])
            entry = loaded.entries["k"]
            kinds.append(native.run_kernel(entry, (1, 1, 1), (1, 1, 1), arguments, arena).kind)
        assert kinds == [native.StatusKind.OK, native.StatusKind.TRAP]


LOWERED = """
TM_ENTRY void tm_lowered(void **a) {
  float *x = *(float **)a[0];
  int n = *(int *)a[1];
  volatile char large[8 << 20];
  large[0] = 1;
  for (int i = 0; i < n; ++i) x[i] = x[i] * 2 + large[0] + 7 / (n - 5);
}
"""


def test_plain_function_under_guards(tmp_path: Path) -> None:
    library = build_cuda_text("__global__ void k(int *p) {}", "k", tmp_path, tail=LOWERED)
    assert isinstance(library, OracleLibrary), library
    entry = OracleLibrary(library.path, {"f": "tm_lowered"}).load().entries["f"]
    with Arena() as arena:
        x = arena.guarded(16, alignment=4)
        outcomes = []
        for n in (4, 5, 4):
            x.view()[:] = 0
            status = native.run_trampoline(entry, Arguments([x, np.int32(n).tobytes()]), arena)
            outcomes.append((status.kind.name, status.offset, x.view().view(np.float32)[3]))
        assert outcomes == [("OK", 0, -6), ("OUT_OF_BOUNDS", 16, 0), ("OK", 0, -6)]
