"""The block executor: barriers, warps, guards, probing, traps."""

from __future__ import annotations

import ctypes
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hipify_tile.verify import native
from hipify_tile.verify.native import (
    Arena,
    Arguments,
    Buffer,
    Fill,
    FillKind,
    Options,
    Schedule,
    Status,
    StatusKind,
)
from hipify_tile.verify.oracle import LoadedOracle, OracleLibrary, build_cuda_text

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

KERNELS = r"""
__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[8][8], tb[8][8];
  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 8) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
__global__ void tree(const double *x, double *out) {
  extern __shared__ __align__(8) unsigned char raw[];
  double *s = (double *)raw;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int d = blockDim.x / 2; d; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s[0];
}
__global__ void warp_sum(const int *x, int *out) {
  int v = x[threadIdx.x];
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}
__global__ void warp_scan(const int *x, int *out) {
  int v = x[threadIdx.x], lane = threadIdx.x % 16;
  for (int d = 1; d < 16; d <<= 1) {
    int u = __shfl_up_sync(0xffffffffu, v, d, 16);
    if (lane >= d) v += u;
  }
  out[threadIdx.x] = v;
}
__global__ void votes(const int *x, unsigned *out) {
  unsigned b = __ballot_sync(~0u, x[threadIdx.x] & 1);
  unsigned m = __match_any_sync(~0u, x[threadIdx.x] % 3);
  out[3 * threadIdx.x] = b;
  out[3 * threadIdx.x + 1] = m;
  int all = __all_sync(~0u, x[threadIdx.x] >= 0), any = __any_sync(~0u, x[threadIdx.x] < 0);
  out[3 * threadIdx.x + 2] = all * 2 + any;
}
__global__ void half_warp(const int *x, int *out) {
  int lane = threadIdx.x % 32;
  if (lane < 16) out[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, x[threadIdx.x], 1);
  else out[threadIdx.x] = __shfl_xor_sync(0xffff0000u, x[threadIdx.x], 2);
}
__global__ void active(int *out) {
  if (threadIdx.x % 4 == 1) out[threadIdx.x] = (int)__activemask();
  else out[threadIdx.x] = -1;
}
__global__ void counts(const int *x, int *out) {
  int c = __syncthreads_count(x[threadIdx.x] > 2);
  int a = __syncthreads_and(x[threadIdx.x] >= 0);
  int o = __syncthreads_or(x[threadIdx.x] == 5);
  out[threadIdx.x] = c * 4 + (a != 0) * 2 + (o != 0);
}
__global__ void histogram(const int *x, int *bins, unsigned *ticket, float *sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[x[i]], 1);
  atomicInc(ticket, 6u);
  atomicAdd(sum, 0.5f);
}
__global__ void early_exit(const int *x, int *out, int n) {
  __shared__ int s[64];
  if ((int)threadIdx.x >= n) return;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[n - 1 - threadIdx.x];
}
__global__ void divergent(int *out) {
  if (threadIdx.x < 16) __syncwarp(0xffffffffu);
  else __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void lonely_lane(int *out) { out[threadIdx.x] = __shfl_sync(2u, 1, 0); }
__global__ void store_at(int *p, int i) { p[i] = 7; }
__global__ void load_at(const int *p, int i, int *out) { *out = p[i]; }
__global__ void shared_at(int *out, int i) {
  extern __shared__ int dyn[];
  dyn[i] = 1;
  out[0] = dyn[0];
}
__global__ void strided(const float *x, int *y, int n) {
  int i = threadIdx.x;
  if (i < n) y[2 * i + 1] = (int)x[i - 3];
}
__global__ void divide(const int *a, const int *b, int *q, int *r) {
  q[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x];
  r[threadIdx.x] = a[threadIdx.x] % b[threadIdx.x];
}
__global__ void divide64(const long long *a, const long long *b, long long *q, long long *r) {
  q[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x];
  r[threadIdx.x] = a[threadIdx.x] % b[threadIdx.x];
}
__global__ void divide_unsigned(const unsigned *a, const unsigned *b, unsigned *q, unsigned *r) {
  q[threadIdx.x] = a[threadIdx.x] / b[threadIdx.x];
  r[threadIdx.x] = a[threadIdx.x] % b[threadIdx.x];
}
__global__ void endless(volatile int *p) { while (*p == 0) {} }
__global__ void lock(int *mutex, int *value) {
  while (atomicCAS(mutex, 0, 1) != 0) {}
  int seen = *value;
  __nanosleep(10);
  *value = seen + 1;
  atomicExch(mutex, 0);
}
__global__ void stale_shared(int *out) {
  __shared__ int s[4];
  if (threadIdx.x == 0) s[0] = 1;
  __syncthreads();
  out[0] = s[1];
}
__global__ void stale_dynamic(int *out) { extern __shared__ int dyn[]; out[0] = dyn[2]; }
__global__ void short_warp(int *out) {
  out[threadIdx.x] = __shfl_down_sync(~0u, (int)threadIdx.x, 4);
}
__global__ void claim(int *p) { assert(*p == 1); }
__global__ void order(int *p) { *p = (int)(blockIdx.x * blockDim.x + threadIdx.x); }
__global__ void deep(int *out, int n) {
  volatile char big[200000];
  big[0] = (char)n;
  big[199999] = 1;
  __syncthreads();
  out[threadIdx.x] = big[0] + big[199999];
}
struct Pair { int a; double b; };
__global__ void by_value(Pair p, char c, double *out) { out[0] = p.a + p.b + c; }
"""
NAMES = [
    line.split("(")[0].split()[-1] for line in KERNELS.splitlines() if line.startswith("__global__")
]

Run = Callable[..., Status]


@pytest.fixture(scope="module")
def oracles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedOracle]:
    cache = tmp_path_factory.mktemp("oracle")
    loaded: dict[str, LoadedOracle] = {}
    # One library holds every kernel; a second entry per kernel is what build_oracle would append.
    tail = "".join(
        f"TM_ENTRY void tm_case_{name}(void **a) {{ tm_oracle::tm_call(&{name}, a); }}\n"
        for name in NAMES
    )
    library = build_cuda_text(KERNELS, "saxpy", cache, tail=tail)
    assert isinstance(library, OracleLibrary), library
    for name in NAMES:
        one = OracleLibrary(library.path, {name: f"tm_case_{name}"})
        loaded[name] = one.load()
    return loaded


@pytest.fixture
def run(oracles: dict[str, LoadedOracle]) -> Run:
    def launch(
        name: str,
        arena: Arena,
        arguments: list[Buffer | int | bytes],
        block: tuple[int, int, int] = (32, 1, 1),
        grid: tuple[int, int, int] = (1, 1, 1),
        shared: int = 0,
        **options: int,
    ) -> Status:
        oracle = oracles[name]
        chosen = Options(**{"time_limit_ms": 5000, **options})  # type: ignore[arg-type]
        return native.run_kernel(
            oracle.entries[name],
            grid,
            block,
            Arguments(arguments),
            arena,
            shared_static=oracle.shared_static,
            shared_bytes=shared,
            options=chosen,
        )

    return launch


def i32(value: int) -> bytes:
    return np.int32(value).tobytes()


def load(arena: Arena, values: np.ndarray) -> Buffer:
    buffer = arena.guarded(values.nbytes, alignment=values.itemsize)
    buffer.view()[:] = values.view(np.uint8).reshape(-1)
    return buffer


def values(buffer: Buffer, dtype: type) -> np.ndarray:
    return buffer.view().view(dtype).copy()


SCHEDULES = [
    {"schedule": Schedule.FORWARD},
    {"schedule": Schedule.REVERSE},
    {"schedule": Schedule.SHUFFLE, "seed": 3},
]


@pytest.mark.parametrize("options", SCHEDULES)
def test_saxpy(run: Run, options: dict[str, int]) -> None:
    with Arena() as arena:
        x = load(arena, np.arange(100, dtype=np.float32))
        y = load(arena, np.ones(100, np.float32))
        status = run(
            "saxpy", arena, [np.float32(2).tobytes(), x, y, i32(100)], grid=(4, 1, 1), **options
        )
        assert status.ok, status
        assert (values(y, np.float32) == 2 * np.arange(100) + 1).all()


@pytest.mark.parametrize("options", SCHEDULES)
def test_matmul_with_barriers(run: Run, options: dict[str, int]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (24, 24)).astype(np.float32) for _ in range(2))
    with Arena() as arena:
        c = arena.guarded(a.nbytes, alignment=4)
        status = run(
            "matmul",
            arena,
            [load(arena, a), load(arena, b), c, i32(24)],
            (8, 8, 1),
            (3, 3, 1),
            **options,
        )
        assert status.ok, status
        assert (values(c, np.float32).reshape(24, 24) == a @ b).all()


@pytest.mark.parametrize("options", SCHEDULES)
def test_reduction_in_dynamic_shared_memory(run: Run, options: dict[str, int]) -> None:
    with Arena() as arena:
        x, out = load(arena, np.arange(256, dtype=np.float64)), arena.guarded(8, alignment=8)
        status = run("tree", arena, [x, out], (256, 1, 1), shared=2048, **options)
        assert status.ok, status
        assert values(out, np.float64)[0] == 255 * 128
        # One thread's share less: the last element lies in the guard.
        status = run("tree", arena, [x, out], (256, 1, 1), shared=2048 - 128, **options)
        assert status.kind is StatusKind.OUT_OF_BOUNDS
        assert status.buffer == native.SHARED_MEMORY


@pytest.mark.parametrize("options", SCHEDULES)
def test_warp_operations(run: Run, options: dict[str, int]) -> None:
    x = np.arange(64, dtype=np.int32) * 7 % 11
    with Arena() as arena:
        source, sums = load(arena, x), arena.guarded(8, alignment=4)
        assert run("warp_sum", arena, [source, sums], (64, 1, 1), **options).ok
        assert values(sums, np.int32).tolist() == [x[:32].sum(), x[32:].sum()]
        scan = arena.guarded(256, alignment=4)
        assert run("warp_scan", arena, [source, scan], (64, 1, 1), **options).ok
        assert (values(scan, np.int32).reshape(4, 16) == x.reshape(4, 16).cumsum(1)).all()
        vote = arena.guarded(384, alignment=4)
        assert run("votes", arena, [source, vote], **options).ok
        got = values(vote, np.uint32).reshape(32, 3)
        lanes = np.arange(32)
        assert (
            got[:, 0] == ((x[:32] & 1).astype(np.uint64) << lanes.astype(np.uint64)).sum()
        ).all()
        for lane in range(32):
            same = sum(1 << k for k in range(32) if x[k] % 3 == x[lane] % 3)
            assert got[lane, 1] == same
        assert (got[:, 2] == 2).all()
        partial = arena.guarded(128, alignment=4)
        assert run("half_warp", arena, [source, partial], **options).ok
        expected = np.where(lanes < 16, x[lanes ^ 1], x[lanes ^ 2])
        assert (values(partial, np.int32) == expected).all()
        assert run("active", arena, [partial], **options).ok
        expected = np.where(lanes % 4 == 1, 0x22222222, -1)
        assert (values(partial, np.int32) == expected).all()


def test_block_votes(run: Run) -> None:
    x = np.array([1, 2, 3, 4, 5, 0], np.int32)
    with Arena() as arena:
        out = arena.guarded(24, alignment=4)
        assert run("counts", arena, [load(arena, x), out], (6, 1, 1)).ok
        assert values(out, np.int32).tolist() == [3 * 4 + 3] * 6


def test_atomics(run: Run) -> None:
    x = (np.arange(128) % 5).astype(np.int32)
    with Arena() as arena:
        bins, ticket, total = (arena.guarded(n, alignment=4) for n in (20, 4, 4))
        status = run("histogram", arena, [load(arena, x), bins, ticket, total], grid=(4, 1, 1))
        assert status.ok
        assert (values(bins, np.int32) == np.bincount(x)).all()
        assert values(ticket, np.uint32)[0] == 128 % 7
        assert values(total, np.float32)[0] == 64.0


@pytest.mark.parametrize("options", SCHEDULES)
def test_exited_threads_count_as_arrived(run: Run, options: dict[str, int]) -> None:
    x = np.arange(64, dtype=np.int32)
    with Arena() as arena:
        out = arena.guarded(40 * 4, alignment=4)
        assert run("early_exit", arena, [load(arena, x), out, i32(40)], (64, 1, 1), **options).ok
        assert (values(out, np.int32) == 39 - np.arange(40)).all()


@pytest.mark.parametrize("options", SCHEDULES)
def test_divergent_barrier(run: Run, options: dict[str, int]) -> None:
    with Arena() as arena:
        out = arena.guarded(128, alignment=4)
        status = run("divergent", arena, [out], **options)
        assert status.kind is StatusKind.DIVERGENT_BARRIER
        assert run("lonely_lane", arena, [out]).kind is StatusKind.BAD_WARP_OPERATION
        assert run("order", arena, [out]).ok


@pytest.mark.parametrize("count", [1, 7, 1000])
@pytest.mark.parametrize("at_start", [False, True])
def test_out_of_bounds(run: Run, count: int, at_start: bool) -> None:
    index = -1 if at_start else count
    with Arena() as arena:
        other = arena.guarded(4, alignment=4)
        buffer = arena.guarded(4 * count, at_start=at_start, alignment=4)
        for i, write in ((0, True), (count - 1, True)):
            assert run("store_at", arena, [buffer, i32(i)], (1, 1, 1)).ok, (i, write)
        status = run("store_at", arena, [buffer, i32(index)], (1, 1, 1))
        assert (status.kind, status.buffer) == (StatusKind.OUT_OF_BOUNDS, buffer.id)
        assert (status.offset, status.write) == (4 * index, True)
        status = run("load_at", arena, [buffer, i32(index), other], (1, 1, 1))
        assert (status.kind, status.buffer) == (StatusKind.OUT_OF_BOUNDS, buffer.id)
        assert (status.offset, status.write) == (4 * index, False)
        far = run("store_at", arena, [buffer, i32(-(2**31))], (1, 1, 1))
        assert (far.kind, far.offset) == (StatusKind.OUT_OF_BOUNDS, -(2**33))
        null = run("store_at", arena, [0, i32(2)], (1, 1, 1))
        assert (null.kind, null.address) == (StatusKind.WILD_ACCESS, 8)


def test_shared_memory_out_of_bounds(run: Run) -> None:
    with Arena() as arena:
        out = arena.guarded(4, alignment=4)
        assert run("shared_at", arena, [out, i32(31)], (1, 1, 1), shared=128).ok
        status = run("shared_at", arena, [out, i32(32)], (1, 1, 1), shared=128)
        assert (status.kind, status.buffer) == (StatusKind.OUT_OF_BOUNDS, native.SHARED_MEMORY)
        # Inside the alignment gap: seen after the block, as a changed poison byte.
        status = run("shared_at", arena, [out, i32(2)], (1, 1, 1), shared=8)
        assert (status.kind, status.buffer) == (StatusKind.OUT_OF_BOUNDS, native.SHARED_MEMORY)


@pytest.mark.parametrize("traced", [False, True])
def test_demand_buffers_find_extents(run: Run, traced: bool) -> None:
    fill = Fill("float32", FillKind.UNIFORM_INT, -50, 50, seed=9)
    with Arena() as arena:
        x, y = arena.demand(fill), arena.demand(Fill("int32"))
        arena.trace(x, traced)
        arena.trace(y, traced)
        status = run("strided", arena, [x, y, i32(20)])
        assert status.ok, status
        read, written = arena.touched(x), arena.touched(y)
        assert read.written is None
        assert read.read is not None
        assert written.written is not None
        if traced:
            assert read.read == (-12, 16 * 4 + 1)
            assert written.written == (4, 39 * 4 + 1)
            assert written.read is None
        else:
            assert read.read == (-4096, 4096)
            assert written.written == (0, 4096)
        expected = native.fill_elements(fill, -3, 20).view(np.float32)
        if not traced:
            raw = (ctypes.c_int32 * 40).from_address(y.address)
            assert (np.ctypeslib.as_array(raw)[1::2] == expected).all()
            assert len(set(expected.tolist())) > 5


def test_demand_limit_and_window(run: Run) -> None:
    with Arena() as arena:
        buffer = arena.demand(Fill("int32"), reserve=1 << 20, lead=4096, cap=8192)
        for i in (0, 1024):
            assert run("store_at", arena, [buffer, i32(i)], (1, 1, 1)).ok
        status = run("store_at", arena, [buffer, i32(4096)], (1, 1, 1))
        assert status.kind is StatusKind.DEMAND_LIMIT
        status = run("store_at", arena, [buffer, i32(1 << 18)], (1, 1, 1))
        assert (status.kind, status.offset) == (StatusKind.OUT_OF_BOUNDS, 1 << 20)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("divide", np.int32), ("divide64", np.int64), ("divide_unsigned", np.uint32)],
)
def test_division_does_not_trap(run: Run, name: str, dtype: type) -> None:
    low = np.iinfo(dtype).min
    a = np.array([7, 0, low, low, 9, 100], dtype)
    b = np.array([0, 0, 0, -1 if low else 3, 4, 7], np.int64).astype(dtype)
    with Arena() as arena:
        q, r = (arena.guarded(a.nbytes, alignment=a.itemsize) for _ in range(2))
        status = run(name, arena, [load(arena, a), load(arena, b), q, r], (6, 1, 1))
        assert status.ok, status
        ones = np.array(-1).astype(dtype)
        assert values(q, dtype).tolist() == [ones, ones, ones, low if low else 0, 2, 14]
        assert values(r, dtype).tolist() == [7, 0, low, 0, 1, 2]


def test_time_limit(run: Run) -> None:
    with Arena() as arena:
        flag = arena.guarded(4, alignment=4)
        status = run("endless", arena, [flag], time_limit_ms=30)
        assert status.kind is StatusKind.TIMEOUT
        assert run("order", arena, [flag]).ok


@pytest.mark.parametrize("options", SCHEDULES)
def test_spinning_threads_let_others_run(run: Run, options: dict[str, int]) -> None:
    with Arena() as arena:
        mutex, value = (arena.guarded(4, alignment=4) for _ in range(2))
        status = run("lock", arena, [mutex, value], (64, 1, 1), **options)
        assert status.ok, status
        assert values(value, np.int32)[0] == 64


@pytest.mark.parametrize(("name", "shared"), [("stale_shared", 0), ("stale_dynamic", 64)])
def test_two_poisons_show_uninitialised_reads(run: Run, name: str, shared: int) -> None:
    with Arena() as arena:
        out = arena.guarded(4, alignment=4)
        seen = set()
        for poison in (0x00, 0xA5):
            assert run(name, arena, [out], (2, 1, 1), shared=shared, poison=poison).ok
            seen.add(int(values(out, np.uint32)[0]))
        assert seen == {0, 0xA5A5A5A5}


def test_lanes_that_do_not_exist_have_no_value(run: Run) -> None:
    with Arena() as arena:
        out = arena.guarded(24 * 4, alignment=4)
        status = run("short_warp", arena, [out], (24, 1, 1), poison=0x5A)
        assert status.ok
        assert status.undefined_lanes == 4
        assert values(out, np.uint32).tolist() == [*range(4, 24), *[0x5A5A5A5A] * 4]


def test_assert_is_a_trap(run: Run) -> None:
    with Arena() as arena:
        flag = load(arena, np.array([1], np.int32))
        assert run("claim", arena, [flag], (1, 1, 1)).ok
        flag.view()[:] = 0
        assert run("claim", arena, [flag], (1, 1, 1)).kind is StatusKind.TRAP


def test_schedules_show_order_dependence(run: Run) -> None:
    with Arena() as arena:
        out = arena.guarded(4, alignment=4)
        seen = {}
        for schedule in Schedule:
            assert run("order", arena, [out], grid=(3, 1, 1), schedule=schedule, seed=5).ok
            seen[schedule] = int(values(out, np.int32)[0])
        assert seen[Schedule.FORWARD] == 95
        assert seen[Schedule.REVERSE] == 0


def test_struct_by_value_and_large_frames(run: Run) -> None:
    pair = np.zeros(1, np.dtype([("a", np.int32), ("b", np.float64)], align=True))
    pair["a"], pair["b"] = 3, 0.5
    with Arena() as arena:
        out = arena.guarded(8, alignment=8)
        assert run("by_value", arena, [pair.tobytes(), b"\x02", out], (1, 1, 1)).ok
        assert values(out, np.float64)[0] == 5.5
        frames = arena.guarded(32 * 4, alignment=4)
        assert run("deep", arena, [frames, i32(4)]).ok
        assert (values(frames, np.int32) == 5).all()


def test_launches_no_device_accepts(run: Run) -> None:
    with Arena() as arena:
        out = arena.guarded(4, alignment=4)
        assert run("order", arena, [out], (1025, 1, 1)).kind is StatusKind.BAD_ARGUMENT
        assert run("order", arena, [out], grid=(0, 1, 1)).kind is StatusKind.BAD_ARGUMENT


def test_thousands_of_runs_do_not_grow(run: Run) -> None:
    def work(count: int) -> None:
        for i in range(count):
            with Arena() as arena:
                out = arena.guarded(64 * 4, alignment=4)
                x = load(arena, np.arange(64, dtype=np.int32))
                assert run("early_exit", arena, [x, out, i32(40)], (64, 1, 1)).ok
                if i % 10 == 0:
                    assert not run("store_at", arena, [out, i32(64)], (1, 1, 1)).ok
                    assert not run("divergent", arena, [out]).ok

    work(500)
    before = resident_bytes()
    work(9500)
    assert resident_bytes() - before < 4 << 20


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
