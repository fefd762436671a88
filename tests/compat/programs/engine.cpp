// The engine: one case a run, named by the first argument; exit status 0 if all its checks hold.
#include "harness.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "cooperative_groups.h"
#include "curand_kernel.h"
#include "cuda_fp16.h"

namespace cg = cooperative_groups;
using tile_migrate::flush_device_output;

#ifdef SMALL  // sanitizers count every fiber
constexpr unsigned kThreads = 32, kBlocks = 6, kRounds = 4;
#else
constexpr unsigned kThreads = 128, kBlocks = 64, kRounds = 20;
#endif

__global__ void index3(int *out) {
  unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[b * blockDim.x * blockDim.y * blockDim.z + t] += b * 1000 + t;
}
__global__ void tree(const int *x, int *out) {
  __shared__ int s[kThreads];
  s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int d = blockDim.x / 2; d; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
__global__ void dynamic(int *out) {
  int *s = (int *)tm_dynamic_shared();
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + 1000 * (tm_dynamic_shared_size() / 4);
}
__global__ void votes(int *out) {
  int t = threadIdx.x;
  if (t >= 40) return;  // exited threads count as arrived
  out[t] = __syncthreads_count(t % 3 == 0) * 100 + __syncthreads_and(t < 40) * 10 + __syncthreads_or(t == 39);
}
__global__ void warps(int *out) {
  unsigned t = threadIdx.x, lane = t % 32, bad = 0;
  if (lane == 31) return;
  unsigned mask = 0x7fffffffu;
  int at = __shfl_sync(mask, (int)t, 3), up = __shfl_up_sync(mask, (int)t, 2);
  int down = __shfl_down_sync(mask, (int)t, 2), pair = __shfl_xor_sync(mask, (int)t, 1, 2);
  bad |= at != (int)(t - lane + 3) || up != (int)(lane < 2 ? t : t - 2);
  bad |= lane < 29 && down != (int)t + 2 || lane < 30 && pair != (int)(t ^ 1);
  bad |= __ballot_sync(mask, lane & 1) != (0xaaaaaaaau & mask);
  bad |= __match_any_sync(mask, lane / 8) != (0xffu << lane / 8 * 8 & mask);
  bad |= __reduce_add_sync(mask, lane) != 465u;
  __syncwarp(mask);
  out[t] = bad ? -1 : 1;
}
__global__ void shuffles_up(int *out) {
  int t = threadIdx.x, got = __shfl_up_sync(~0u, t, 2);
  out[t] = got;
}
__global__ void divide(int *q, int *r, int d) {
  q[threadIdx.x] = (int)threadIdx.x / d;
  r[threadIdx.x] = (int)threadIdx.x % d;
}
__global__ void write_at(int *x) {
  if (threadIdx.x == 3 && blockIdx.x == 0) *x = 1;
}
__global__ void trap() { __trap(); }
__global__ void asserted(int n) { assert(threadIdx.x < n); }
__global__ void deep(int n) {
  volatile char local[2000];
  local[n % 2000] = 1;
  if (n < 100000) deep(n + 1);
  local[0] = local[n % 2000];
}
__global__ void divergent() {
  if (threadIdx.x < 16) __syncwarp();
  else __syncthreads();
}
__global__ void barrier(int *out, unsigned id) {
  __shared__ int shared[64];
  shared[threadIdx.x] = threadIdx.x;
  __barrier_sync(id);
  out[threadIdx.x] = shared[63 - threadIdx.x];
}
__device__ int group_sum(cg::thread_group g, int *shared, int v) {
  const unsigned rank = g.thread_rank();
  for (unsigned half = g.size() / 2; half; half /= 2) {
    shared[rank] = v;
    g.sync();
    if (rank < half) v += shared[rank + half];
    g.sync();
  }
  return v;
}
__global__ void groups(int *out) {
  __shared__ int shared[64], copied[64];
  cg::thread_block block = cg::this_thread_block();
  const int t = (int)block.thread_rank(), lane = t % 32;
  bool good = true;
  const int sum = group_sum(block, shared, t);
  good &= t != 0 || sum == 2016;
  cg::thread_group quad = cg::tiled_partition(block, 4);
  good &= quad.size() == 4 && quad.thread_rank() == (unsigned)t % 4;
  const int part = group_sum(quad, shared + t / 4 * 4, t);
  good &= t % 4 != 0 || part == 4 * t + 6;
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8, cg::thread_block_tile<32>> octet = cg::tiled_partition<8>(warp);
  good &= octet.meta_group_rank() == (unsigned)lane / 8 && octet.meta_group_size() == 4 && warp.meta_group_rank() == (unsigned)t / 32;
  good &= octet.ballot(t % 2) == 0xaau && octet.match_any(t % 4) == 0x11u << t % 4;
  cg::coalesced_group side = cg::binary_partition(warp, lane < 20);
  good &= side.size() == (lane < 20 ? 20u : 12u) && side.ballot(side.thread_rank() == 3) == 8u;
  good &= cg::reduce(side, 1, cg::plus<int>()) == (int)side.size();
  cg::coalesced_group label = cg::labeled_partition(warp, t % 5);
  good &= label.size() == (lane % 5 < 2 ? 7u : 6u) || t >= 32;
  good &= cg::inclusive_scan(octet, 1) == t % 8 + 1 && cg::exclusive_scan(side, 2) == 2 * (int)side.thread_rank();
  cg::invoke_one(block, [&] { shared[0] = 77; });
  cg::memcpy_async(block, copied, out, sizeof copied);
  cg::wait(block);
  good &= shared[0] == 77 && copied[t] == t && cg::thread_block::size() == 64;
  block.sync();
  out[t] = good ? 1 : -1;
}
__global__ void generator(curandState *state) { curand_init(1, 2, 3, state); }
__global__ void own_mask() { __shfl_sync(1u, 0, 0); }
__global__ void nested() { tm_push_configuration(1, 1, 1, 1, 1, 1, 0, nullptr); }
__global__ void grid_sync(int *data, int *bad) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 1; round <= 5; ++round) {
    if (threadIdx.x == 0) ++data[blockIdx.x];
    grid.sync();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += data[b];
    if (sum != round * (int)gridDim.x) atomicAdd(bad, 1);
    grid.sync();
  }
}
__global__ void grid_trap() {
  if (blockIdx.x == 1) __trap();
  cg::this_grid().sync();
}
__global__ void print() { printf("block %d thread %d of %s\n", blockIdx.x, threadIdx.x, "many"); }
__global__ void print_plain() {
  printf("plain\n");
  if (printf("%d%%%s", 1, "\n") != 2) __trap();
}
struct Totals {
  int add, max, cas;
  unsigned inc, word;
  unsigned long long wide;
  float f;
  double d;
  __half h;
};
__global__ void atomics(Totals *t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&t->add, 1);
  atomicMax(&t->max, i);
  atomicInc(&t->inc, 0xffffffffu);
  atomicXor(&t->word, 1u << i % 32);
  atomicAdd(&t->wide, 1ull << 32);
  atomicAdd(&t->f, 1.0f);
  atomicAdd(&t->d, 0.5);
  if (i < 1000) atomicAdd(&t->h, __float2half(1.0f));
  for (int old = 0, seen; (seen = atomicCAS(&t->cas, old, old + 2)) != old; old = seen) {}
}
__global__ void spin_lock(int *lock, int *count) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  *count += 1;
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void exits(int *out) {
  int *own = out + blockIdx.x * blockDim.x;
  own[threadIdx.x] = 1;
  if (threadIdx.x % 2) tm_exit_thread();
  __syncthreads();
  own[threadIdx.x] = 2;
}

static void indices() {
  for (unsigned flags : {0u, (unsigned)TM_KERNEL_NO_BARRIER}) {
    std::vector<int> out(3 * 2 * 5 * 4 * 3 * 2);
    CHECK(run_flagged<index3>(flags, shape(dim3(3, 2, 5), dim3(4, 3, 2)), out.data()) == 0);
    for (size_t i = 0; i < out.size(); ++i) CHECK(out[i] == int(i / 24 * 1000 + i % 24));
  }
}

static void barriers() {
  std::vector<int> x(kThreads * kBlocks, 1), out(64);
  for (int i = 0; i < 64; ++i) out[i] = i;
  CHECK(run<groups>(shape(1, 64), out.data()) == 0);
  for (int i = 0; i < 64; ++i) CHECK(out[i] == 1);
  int sum = 0;
  for (unsigned i = 0; i < kRounds; ++i) CHECK(run<tree>(shape(kBlocks, kThreads), x.data(), &sum) == 0);
  CHECK(sum == int(kThreads * kBlocks * kRounds));
  CHECK(run<dynamic>(shape(1, 64, 256), out.data()) == 0);
  for (int i = 0; i < 64; ++i) CHECK(out[i] == 63 - i + 64000);
  CHECK(run<votes>(shape(1, 64), out.data()) == 0);
  for (int i = 0; i < 40; ++i) CHECK(out[i] == 14 * 100 + 11);
  std::vector<int> ended(4 * 64);
  CHECK(run<exits>(shape(4, 64), ended.data()) == 0);
  for (int i = 0; i < 4 * 64; ++i) CHECK(ended[i] == 2 - i % 2);
  CHECK(run_flagged<tree>(TM_KERNEL_NO_BARRIER, shape(1, kThreads), x.data(), &sum) == 719);
}

static void lanes() {
  std::vector<int> out(64);
  CHECK(run<warps>(shape(1, 64), out.data()) == 0);
  for (int i = 0; i < 64; ++i) CHECK(out[i] == (i % 32 < 31));
  CHECK(run<shuffles_up>(shape(1, 64), out.data()) == 0);
  for (int i = 0; i < 64; ++i) CHECK(out[i] == (i % 32 < 2 ? i : i - 2));
  CHECK(run<own_mask>(shape(1, 2)) == 719);
}

static void division() {
  std::vector<int> q(64), r(64);
  CHECK(run<divide>(shape(1, 64), q.data(), r.data(), 0) == 0);
  for (int i = 0; i < 64; ++i) CHECK(q[i] == -1 && r[i] == i);
}

static void faults() {
  std::vector<int> x(kThreads, 1);
  int sum = 0, reversed[64] = {};
  for (int round = 0; round < 3; ++round) {
    CHECK(run<write_at>(shape(4, 32), (int *)nullptr) == 700);
    CHECK(run_flagged<write_at>(TM_KERNEL_NO_BARRIER, shape(4, 32), (int *)8) == 700);
    CHECK(run<write_at>(shape(1, 32), (int *)0x123456789abcdef0) == 700);
    CHECK(run<trap>(shape(4, 32)) == 719);
    CHECK(run<asserted>(shape(1, 32), 5) == 710);
    CHECK(run<asserted>(shape(1, 32), 32) == 0);
    CHECK(run<deep>(shape(1, 2), 0) == 714);
    CHECK(run<divergent>(shape(1, 32)) == 719);
    CHECK(run<nested>(shape(1, 1)) == 801);
    CHECK(run<generator>(shape(4, 32), (curandState *)nullptr) == 719);
    CHECK(run<barrier>(shape(1, 64), x.data(), 1u) == 719);
    CHECK(run<barrier>(shape(1, 64), reversed, 0u) == 0 && reversed[0] == 63 && reversed[63] == 0);
    CHECK(run<tree>(shape(1, kThreads), x.data(), &sum) == 0);
  }
  CHECK(sum == 3 * (int)kThreads);
  tm_launch too_large = shape(1, 1025);
  CHECK(run<trap>(too_large) == 9);
}

static sigjmp_buf escape;
static int handled;
static void own_handler(int, siginfo_t *, void *) {
  ++handled;
  siglongjmp(escape, 1);
}
static void fault_on_host(int expected) {
  if (sigsetjmp(escape, 1) == 0) *(volatile int *)16 = 1;
  CHECK(handled == expected);
}
// The program's own handler gets what happens outside kernels, whenever it was installed.
static void handlers() {
  struct sigaction mine {};
  mine.sa_sigaction = own_handler;
  mine.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &mine, nullptr);
  CHECK(run<write_at>(shape(1, 32), (int *)nullptr) == 700);
  fault_on_host(1);
  sigaction(SIGSEGV, &mine, nullptr);
  usleep(20000);
  CHECK(run<write_at>(shape(1, 32), (int *)nullptr) == 700);
  fault_on_host(2);
  sigaction(SIGFPE, &mine, nullptr);
  if (sigsetjmp(escape, 1) == 0) raise(SIGFPE);
  CHECK(handled == 3);
}

static void grids() {
  std::vector<int> data(8);
  int bad = 0;
  CHECK(run<grid_sync>(shape(8, 32, 0, true), data.data(), &bad) == 0);
  CHECK(bad == 0);
  CHECK(run<grid_sync>(shape(1, 32), data.data(), &bad) == 0);
  CHECK(run<grid_sync>(shape(1000000, 32, 0, true), data.data(), &bad) == 720);
  CHECK(run<grid_sync>(shape(8, 32), data.data(), &bad) == 719);
  CHECK(run<grid_trap>(shape(4, 32, 0, true)) == 719);
}

static void output() {
  CHECK(run<print>(shape(1, 3)) == 0);
  CHECK(run<print_plain>(shape(1, 1)) == 0);
  printf("host before synchronisation\n");
  flush_device_output();
  printf("host after\n");
  CHECK(run<print>(shape(1, 1)) == 0);  // written at exit
}

static void atomic_operations() {
  Totals t{};
  int lock = 0, count = 0, n = kThreads * kBlocks;
  CHECK(run<atomics>(shape(kBlocks, kThreads), &t) == 0);
  CHECK(t.add == n && t.max == n - 1 && t.inc == (unsigned)n && t.wide == (unsigned long long)n << 32);
  CHECK(t.f == (float)n && t.d == n / 2.0 && t.cas == 2 * n && t.word == (n / 32 % 2 ? ~0u : 0u));
  CHECK(__half2float(t.h) == (n < 1000 ? n : 1000));
  CHECK(run<spin_lock>(shape(kBlocks, 32), &lock, &count) == 0);
  CHECK(count == (int)kBlocks * 32);
}

static void threads() {
  std::atomic<int> bad{0};
  std::vector<std::thread> hosts;
  for (int h = 0; h < 8; ++h)
    hosts.emplace_back([&, h] {
      std::vector<int> x(kThreads * kBlocks, h);
      for (unsigned i = 0; i < kRounds; ++i) {
        int sum = 0;
        bad += run<tree>(shape(kBlocks, kThreads), x.data(), &sum) != 0 || sum != h * (int)(kThreads * kBlocks);
        bad += run<write_at>(shape(2, 32), (int *)(8ll * h)) != 700;
        int data[2] = {}, wrong = 0;
        if (i < 2) bad += run<grid_sync>(shape(2, 8, 0, true), data, &wrong) != 0 || wrong;
      }
    });
  for (std::thread &host : hosts) host.join();
  CHECK(bad == 0);
}

struct Ranges {
  std::vector<std::atomic<int>> *seen;
  uint64_t fail_at;
};
static int visit(void *raw, uint64_t first, uint64_t last) {
  Ranges &ranges = *(Ranges *)raw;
  for (uint64_t i = first; i < last; ++i) {
    if (i == ranges.fail_at) return 77;
    ++(*ranges.seen)[i];
  }
  return 0;
}
static int visit_wild(void *, uint64_t, uint64_t) { return *(volatile int *)8; }
static void ranges() {
  for (unsigned blocks : {1u, 2u, 7u, 1000u}) {
    std::vector<std::atomic<int>> seen(blocks);
    Ranges context{&seen, ~0ull};
    tm_launch launch = shape(blocks, 1);
    CHECK(tm_run_blocks(&launch, visit, &context) == 0);
    for (auto &count : seen) CHECK(count == 1);
    context.fail_at = blocks - 1;
    CHECK(tm_run_blocks(&launch, visit, &context) == 77);
    CHECK(tm_run_blocks(&launch, visit_wild, nullptr) == 700);
  }
}

static void forks() {
  std::vector<int> x(kThreads * kBlocks, 1);
  int sum = 0;
  CHECK(run<tree>(shape(kBlocks, kThreads), x.data(), &sum) == 0);
  for (int i = 0; i < 3; ++i) {
    pid_t child = fork();
    if (child == 0) {
      sum = 0;
      int error = run<tree>(shape(kBlocks, kThreads), x.data(), &sum);
      error += run<write_at>(shape(2, 32), (int *)nullptr) != 700;
      _exit(error != 0 || sum != (int)(kThreads * kBlocks));
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static long mapped_lines() {
  FILE *file = fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}
// OS threads that launched and ended leave nothing behind.
static void ended_threads() {
  std::vector<int> x(kThreads, 1);
  long before = 0;
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      int sum = 0;
      CHECK(run<tree>(shape(1, kThreads), x.data(), &sum) == 0);
    }).join();
    if (i == 4) before = mapped_lines();
  }
  CHECK(mapped_lines() < before + 60);
}

int main(int, char **arguments) {
  const struct {
    const char *name;
    void (*run)();
  } cases[] = {{"indices", indices},   {"barriers", barriers},           {"lanes", lanes},     {"division", division},
               {"faults", faults},     {"handlers", handlers},           {"grids", grids},     {"output", output},
               {"atomics", atomic_operations}, {"threads", threads},     {"ranges", ranges},   {"forks", forks},
               {"ended_threads", ended_threads}};
  for (const auto &one : cases)
    if (strcmp(one.name, arguments[1]) == 0) {
      one.run();
      return failures != 0;
    }
  return 2;
}
