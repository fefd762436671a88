"""The race detector: which accesses of a launch conflict, whatever the order of threads."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from hipify_tile.verify import native
from hipify_tile.verify.exactness import ORIGINAL_FLAGS
from hipify_tile.verify.native import Arena, Arguments, Options, Schedule, Status, StatusKind
from hipify_tile.verify.oracle import LoadedOracle, OracleLibrary, build_cuda_text

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

KERNELS = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
struct Wide { float a[20]; };
__device__ int total;
__global__ void histogram(int *b, const int *d) { b[d[I]]++; }
__global__ void histogram_shared(int *b, const int *d) {
  __shared__ int h[16];
  if (T < 16) h[T] = 0;
  __syncthreads();
  h[d[I]]++;
  __syncthreads();
  if (T < 16) atomicAdd(&b[T], h[T]);
}
__global__ void histogram_atomic(int *b, const int *d) {
  __shared__ int h[16];
  if (T < 16) h[T] = 0;
  __syncthreads();
  atomicAdd(&h[d[I]], 1);
  __syncthreads();
  if (T < 16) atomicAdd(&b[T], h[T]);
}
__global__ void tree(float *o, const float *x) {
  __shared__ float s[64];
  s[T] = x[I];
  __syncthreads();
  for (int k = 32; k > 0; k >>= 1) { if (T < k) s[T] += s[T + k]; __syncthreads(); }
  if (T == 0) o[blockIdx.x] = s[0];
}
__global__ void tree_without_last(float *o, const float *x) {
  static __shared__ float s[64];
  s[T] = x[I];
  for (int k = 32; k > 0; k >>= 1) { __syncthreads(); if (T < k) s[T] += s[T + k]; }
  if (T == 63) o[blockIdx.x] = s[0];
}
__global__ void tree_without_first(float *o, const float *x) {
  extern __shared__ float s[];
  s[T] = x[I];
  for (int k = 32; k > 0; k >>= 1) { if (T < k) s[T] += s[T + k]; __syncthreads(); }
  if (T == 0) o[blockIdx.x] = s[0];
}
__global__ void reused_tile(float *o, const float *x) {
  __shared__ float s[64];
  for (int r = 0; r < 3; ++r) { s[T] = x[T] + r; __syncthreads(); o[I] += s[63 - T]; }
}
__global__ void maximum(float *m, const float *x) { if (x[I] > *m) *m = x[I]; }
__global__ void sum(int *x) { x[0] += I; }
__global__ void sum_of_symbol(int *) { total += I; }
__global__ void flag(int *f, const int *d) { if (d[I] > 2) *f = 1; }
__global__ void flag_of_thread(int *f, const int *d) { *f = d[I]; }
__global__ void flag_read_before(int *f, int *o) { if (T == 40) *f = 1; o[I] = *f; }
__global__ void flag_read_after(int *f, int *o) { o[I] = *f; if (T == 0) *f = 1; }
__global__ void characters(char *c) { c[I] = I; }
__global__ void word_and_byte(int *w) { ((char *)w)[I] = I + 1; if (I == 0) w[1] = 77; }
__global__ void shift(float *x) { x[I] = x[I + 1] * 2; }
__global__ void wide_shift(Wide *x) { x[I] = x[I + 1]; }
__global__ void lanes(float *o, const float *x) {
  __shared__ float s[64]; s[T] = x[T]; __syncwarp(); o[T] = s[T ^ 1];
}
__global__ void lanes_of_other_warp(float *o, const float *x) {
  __shared__ float s[64]; s[T] = x[T]; __syncwarp(); o[T] = s[T ^ 32];
}
__global__ void pairs(float *o, const float *x) {
  __shared__ float s[64]; s[T] = x[T]; __syncwarp(3u << (T % 32 & ~1)); o[T] = s[T ^ 1];
}
__global__ void pairs_of_others(float *o, const float *x) {
  __shared__ float s[64]; s[T] = x[T]; __syncwarp(3u << (T % 32 & ~1)); o[T] = s[T ^ 2];
}
__global__ void lanes_by_shuffle(float *o, const float *x) {
  __shared__ float s[64]; s[T] = x[T]; float y = __shfl_xor_sync(~0u, x[T], 1); o[T] = y + s[T ^ 1];
}
__global__ void exited(float *o, const float *x) {
  __shared__ float s[64];
  s[T] = x[T];
  if (T >= 32) return;
  __syncthreads();
  o[T] = s[T + 32];
}
__global__ void counted(int *c, int *o) { atomicAdd(c, 1); o[I] = *c; }
__global__ void tickets(int *c, int *o) { o[I] = atomicAdd(c, 1) >= 0; }
__global__ void across_blocks(float *o, const float *x) {
  o[I] = x[I];
  __syncthreads();
  if (I == 0) o[0] = o[gridDim.x * blockDim.x - 1];
}
#define LAST_BLOCK(NAME, BEFORE, AFTER) \
  __global__ void NAME(float *o, float *part, const float *x, unsigned *count) { \
    __shared__ bool last; \
    if (T == 0) { BEFORE; part[blockIdx.x] = x[I]; AFTER; \
                  last = atomicInc(count, gridDim.x) == gridDim.x - 1; } \
    __syncthreads(); \
    if (last && T == 1) { \
      float a = 0; for (int i = 0; i < gridDim.x; ++i) a += part[i]; *o = a; *count = 0; \
    } \
  }
LAST_BLOCK(last_block, , __threadfence())
LAST_BLOCK(last_block_without_fence, , )
LAST_BLOCK(last_block_fence_too_early, __threadfence(), )
__global__ void product(float *c, const float *a) {
  float s = 0;
  for (int k = 0; k < 64; ++k) s += a[(I & 255) * 64 + k] * a[k * 64 + (I & 63)];
  c[I] = s;
}
"""
NAMES = [
    *(x.split("(")[0].split()[-1] for x in KERNELS.splitlines() if x.startswith("__global__")),
    *(x.split("(")[1].split(",")[0] for x in KERNELS.splitlines() if x.startswith("LAST_BLOCK")),
]
_RNG = np.random.default_rng(0)
X = _RNG.standard_normal(400).astype(np.float32)
D = _RNG.integers(0, 5, 256).astype(np.int32)
INTS, WORDS = np.zeros(256, np.int32), np.zeros(256, np.uint32)
FLOATS = np.zeros(256, np.float32)
ONES, SAME = np.ones(256, np.int32), np.full(256, 3, np.int32)


@dataclass(frozen=True)
class Row:
    name: str
    arguments: list[np.ndarray]
    line: str = ""  # what both racing lines contain; empty: no race
    grid: int = 4
    block: int = 64
    shared: int = field(default=0)


RACES = [
    Row("histogram", [INTS, D], "b[d[I]]++"),
    Row("histogram_shared", [INTS, D], "h[d[I]]++"),
    Row("tree_without_last", [FLOATS, X], "s["),
    Row("tree_without_first", [FLOATS, X], "s[", shared=256),
    Row("reused_tile", [FLOATS, X], "s[", grid=1),
    Row("maximum", [FLOATS, X], "*m"),
    Row("sum", [INTS], "x[0]"),
    Row("sum_of_symbol", [INTS], "total +="),
    Row("flag_of_thread", [INTS, D], "*f"),
    Row("flag_read_before", [INTS, INTS], "*f"),
    Row("flag_read_after", [INTS, INTS], "*f"),
    Row("word_and_byte", [INTS], "char"),
    Row("shift", [X], "x[I + 1]"),
    Row("wide_shift", [np.arange(20 * 260, dtype=np.float32)], "x[I + 1]"),
    Row("lanes_of_other_warp", [FLOATS, X], "s[T ^ 32]", grid=1),
    Row("pairs_of_others", [FLOATS, X], "s[T ^ 2]", grid=1),
    Row("lanes_by_shuffle", [FLOATS, X], "s[T ^ 1]", grid=1),
    Row("counted", [INTS, INTS], "*c"),
    Row("across_blocks", [FLOATS, X], "o["),
    Row("last_block_without_fence", [FLOATS, FLOATS, X, WORDS], "LAST_BLOCK("),
    Row("last_block_fence_too_early", [FLOATS, FLOATS, X, WORDS], "LAST_BLOCK("),
]
ORDERED = [
    Row("histogram_atomic", [INTS, D]),
    Row("tree", [FLOATS, X]),
    Row("flag", [INTS, D]),
    Row("flag", [ONES, D]),
    Row("flag_of_thread", [INTS, SAME]),
    Row("flag_read_before", [ONES, INTS]),
    Row("characters", [np.zeros(256, np.int8)]),
    Row("shift", [X], grid=1, block=1),
    Row("lanes", [FLOATS, X], grid=1),
    Row("pairs", [FLOATS, X], grid=1),
    Row("exited", [FLOATS, X], grid=1),
    Row("tickets", [INTS, INTS]),
    Row("across_blocks", [FLOATS, X], grid=1, block=1),
    Row("last_block", [FLOATS, FLOATS, X, WORDS]),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> OracleLibrary:
    tail = "".join(
        f"TM_ENTRY void tm_case_{name}(void **a) {{ tm_oracle::tm_call(&{name}, a); }}\n"
        for name in NAMES
    )
    tail += (
        "TM_ENTRY void *tm_symbol(uint64_t *size, bool *constant) "
        "{ *size = 4; *constant = false; return &total; }\n"
    )
    cache = tmp_path_factory.mktemp("oracle")
    built = build_cuda_text(KERNELS, "sum", cache, tail=tail, flags=ORIGINAL_FLAGS)
    assert isinstance(built, OracleLibrary), built
    return OracleLibrary(built.path, {n: f"tm_case_{n}" for n in NAMES}, {"total": "tm_symbol"})


def launch(oracle: LoadedOracle, row: Row, **options: object) -> Status:
    with Arena() as arena:
        buffers = []
        for values in row.arguments:
            buffer = arena.guarded(values.nbytes, alignment=values.itemsize)
            buffer.view()[:] = values.view(np.uint8)
            buffers.append(buffer)
        chosen = {"race": True, "watched": (oracle.symbols["total"],), **options}
        return native.run_kernel(
            oracle.entries[row.name],
            (row.grid, 1, 1),
            (row.block, 1, 1),
            Arguments(buffers),
            arena,
            shared_static=oracle.shared_static,
            shared_bytes=row.shared,
            options=Options(time_limit_ms=10000, **chosen),  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("row", RACES, ids=lambda r: r.name)
def test_races_are_found_in_every_order(
    library: OracleLibrary, row: Row, schedule: Schedule
) -> None:
    oracle = library.load()
    status = launch(oracle, row, schedule=schedule)
    assert status.kind is StatusKind.DATA_RACE, status
    assert status.race is not None
    later, earlier = status.race
    assert (later.block, later.thread) != (earlier.block, earlier.thread)
    assert later.write or earlier.write
    text = KERNELS.splitlines()
    for access in status.race:
        # The user's text follows two includes.
        number = int(oracle.source_line(access.code).rpartition(":")[2]) - 2
        near = "".join(text[number - 1 : number + 1])
        assert row.line in near or "s[T] = x" in near, (near, status)


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("row", ORDERED, ids=lambda r: r.name)
def test_ordered_and_silent_accesses_are_none(
    library: OracleLibrary, row: Row, schedule: Schedule
) -> None:
    status = launch(library.load(), row, schedule=schedule, seed=3)
    assert status.ok, status


def test_nothing_is_searched_unless_asked_for(library: OracleLibrary) -> None:
    oracle = library.load()
    for row in RACES:
        assert launch(oracle, row, race=False).ok


def test_launches_do_not_race_with_each_other(library: OracleLibrary) -> None:
    oracle = library.load()
    with Arena() as arena:
        a, b = (arena.guarded(1024, alignment=4) for _ in range(2))
        for grid, pair in ((1, [a, b]), (4, [b, a]), (2, [a, b])):
            status = native.run_kernel(
                oracle.entries["exited" if grid == 1 else "tree"],
                (grid, 1, 1),
                (64, 1, 1),
                Arguments(pair),
                arena,
                shared_static=oracle.shared_static,
                options=Options(race=True),
            )
            assert status.ok, status


def test_which_accesses(library: OracleLibrary) -> None:
    status = launch(library.load(), Row("across_blocks", [FLOATS, X], grid=3, block=2))
    assert status.race is not None and (status.buffer, status.offset) == (0, 20)
    later, earlier = status.race
    assert (earlier.block, earlier.thread, earlier.write) == ((0, 0, 0), (0, 0, 0), False)
    assert (later.block, later.thread, later.write) == ((2, 0, 0), (1, 0, 0), True)
    assert status.address


def test_millions_of_accesses_take_a_second(library: OracleLibrary) -> None:
    row = Row("product", [np.zeros(1 << 14, np.float32), X[:1].repeat(1 << 14)], grid=64, block=256)
    started = time.process_time()
    assert launch(library.load(), row).ok
    assert time.process_time() - started < 3
