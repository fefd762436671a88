// The fibers, shared memory and stacks of one OS thread, and the two ways to run blocks on it:
// entry functions once per thread, and functions that run ranges of blocks.
#include "executor.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "memcheck.h"
#include "pool.h"
#include "race.h"

__attribute__((visibility("default"))) __thread int tm_kernel_depth
    __attribute__((tls_model("initial-exec")));
extern "C" void tm_sync_block(void);

namespace tile_migrate {

// The race detector is the verifier's.
bool race_on = false;
void race_barrier() {}
void race_warp(Thread **, uint32_t) {}
void race_settle() {}

__thread Executor *executor_of_thread TM_INITIAL_EXEC;

namespace {

constexpr uint64_t kCallStackBytes = 256ULL << 20;
constexpr uint64_t kSharedAlignment = 1024;
constexpr uint64_t kSharedLimit = 1 << 20;
constexpr size_t kSignalStackBytes = 64 * 1024;
constexpr uint32_t kThreadsPerMultiprocessor = 2048, kBlocksPerMultiprocessor = 32;

struct Owner {
  std::unique_ptr<Executor> executor;
  ~Owner() {
    executor_of_thread = nullptr;
    block_of_thread = nullptr;
  }
};

void call_main() {
  entered_fiber();
  Executor *e = executor_of_thread;
  e->call_body(e);
  switch_to(&e->block.main_fiber);
  __builtin_unreachable();
}

// The work of one launch, shared by the OS threads that run it.
struct ThreadsWork {
  const tm_launch *launch;
  void (*entry)(void **);
  void **arguments;
  bool plain;  // no thread waits for another
  Gang *gang;
  uint64_t first, last;  // of the range that one OS thread runs; a copy each
};

void set_block_index(const uint32_t grid[3], uint64_t block) {
  block_index = Index{(uint32_t)(block % grid[0]), (uint32_t)(block / grid[0] % grid[1]),
                      (uint32_t)(block / grid[0] / grid[1])};
}

void run_plain(Executor *e) {
  const ThreadsWork &work = *(const ThreadsWork *)e->work;
  const tm_launch &launch = *work.launch;
  e->block.current = nullptr;
  for (uint64_t block = work.first; block < work.last; ++block) {
    set_block_index(launch.grid, block);
    if (memcheck_on) memcheck_block();
    for (uint32_t z = 0; z < launch.block[2]; ++z)
      for (uint32_t y = 0; y < launch.block[1]; ++y)
        for (uint32_t x = 0; x < launch.block[0]; ++x) {
          thread_index = Index{x, y, z};
          work.entry(work.arguments);
        }
  }
}

int run_threads_range(void *raw, uint64_t first, uint64_t last) {
  ThreadsWork work = *(const ThreadsWork *)raw;
  work.first = first;
  work.last = last;
  const tm_launch &launch = *work.launch;
  Executor *e = this_executor();
  if (!e || !e->ensure_shared(launch.shared_bytes)) {
    if (work.gang) work.gang->leave(kMemoryAllocation);
    return kMemoryAllocation;
  }
  Block &b = e->block;
  grid_dimensions = Index{launch.grid[0], launch.grid[1], launch.grid[2]};
  b.entry = work.entry;
  b.args = work.arguments;
  b.dynamic_shared = e->shared_area;
  b.dynamic_bytes = launch.shared_bytes;
  e->error = 0;
  e->kernel = launch.kernel ? launch.kernel : "";
  e->gang = work.gang;
  e->work = &work;
  shape_block(launch.block);
  if (memcheck_on) memcheck_begin(e, launch, work.arguments);
  tm_kernel_depth = 1;
  if (work.plain) {
    if (!e->run_call(run_plain) && !e->error) e->error = kMemoryAllocation;
  } else {
    for (uint64_t block = first; block < last && !e->error; ++block) {
      set_block_index(launch.grid, block);
      if (memcheck_on) memcheck_block();
      if (!run_threads()) e->error = kMemoryAllocation;
    }
  }
  tm_kernel_depth = 0;
  e->work = nullptr;
  if (work.gang) work.gang->leave(e->error);
  return e->error;
}

struct BlocksWork {
  const char *kernel;
  int (*body)(void *, uint64_t, uint64_t);
  void *context;
  uint64_t first, last;
};

void run_body(Executor *e) {
  const BlocksWork &work = *(const BlocksWork *)e->work;
  e->error = work.body(work.context, work.first, work.last);
}

int run_blocks_range(void *raw, uint64_t first, uint64_t last) {
  BlocksWork work = *(const BlocksWork *)raw;
  work.first = first;
  work.last = last;
  Executor *e = this_executor();
  if (!e) return kMemoryAllocation;
  e->error = 0;
  e->kernel = work.kernel ? work.kernel : "";
  e->block.current = nullptr;
  e->work = &work;
  thread_index = block_index = Index{0, 0, 0};
  tm_kernel_depth = 1;
  if (!e->run_call(run_body) && !e->error) e->error = kMemoryAllocation;
  tm_kernel_depth = 0;
  e->work = nullptr;
  return e->error;
}

uint64_t block_count(const tm_launch *launch) {
  return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

bool valid(const tm_launch *launch) {
  uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  return threads >= 1 && threads <= kMaxThreads && launch->shared_bytes <= kSharedLimit &&
         launch->grid[0] && launch->grid[1] && launch->grid[2];
}

// Waking another OS thread costs more than some launches do: each kernel's cost per block is
// remembered, in nanoseconds. The first launch always spreads.
class Cost {
 public:
  static constexpr uint64_t kWorthWaking = 8000;
  Cost(const void *kernel, uint64_t blocks) : slot_(slots_[hash(kernel)]), blocks_(blocks) {
    uint32_t known = slot_.load(std::memory_order_relaxed);
    alone_ = known && (known - 1) * blocks < kWorthWaking;
    timed_ = blocks > 1;
    if (timed_) start_ = now();
  }
  bool alone() const { return alone_; }
  void done() {
    if (!timed_) return;
    uint64_t spent = now() - start_, threads = alone_ ? 1 : std::min<uint64_t>(pool_size(), blocks_);
    uint64_t each = std::min<uint64_t>(spent * threads / blocks_, 0xfffffff0u);
    uint64_t known = slot_.load(std::memory_order_relaxed);
    slot_.store((uint32_t)(1 + (known ? ((known - 1) * 3 + each) / 4 : each)), std::memory_order_relaxed);
  }

 private:
  static uint64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
  }
  static size_t hash(const void *p) { return (uint64_t)p * 0x9e3779b97f4a7c15ULL >> 54; }
  static std::atomic<uint32_t> slots_[1024];
  std::atomic<uint32_t> &slot_;
  uint64_t blocks_, start_ = 0;
  bool alone_ = false, timed_ = false;
};
std::atomic<uint32_t> Cost::slots_[1024];

int run_shared(const tm_launch *launch, const void *key, RangeBody body, void *context) {
  uint64_t blocks = block_count(launch);
  if (blocks == 1) return body(context, 0, 1);
  Cost cost(key, blocks);
  int error = run_parallel(body, context, blocks, cost.alone());
  if (!error) cost.done();
  return error;
}

const char *explain(int32_t kind, const char *detail, int *error) {
  switch (kind) {
    case TM_WILD_ACCESS: *error = kIllegalAddress; return nullptr;
    case TM_TRAP: *error = kLaunchFailure; return nullptr;
    case TM_STACK_OVERFLOW: *error = kStackError; return detail;
    case TM_BAD_ARGUMENT: *error = kMemoryAllocation; return detail;
    default: *error = kLaunchFailure; return detail;
  }
}

}  // namespace

Executor::~Executor() {
  for (Fiber *fiber : block.all_fibers) {
    fiber->unmap();
    delete fiber;
  }
  call.unmap();
  ::operator delete(shared_area, std::align_val_t(kSharedAlignment));
  if (signal_stack) {
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
    munmap(signal_stack, kSignalStackBytes);
  }
}

bool Executor::ensure_shared(uint64_t bytes) {
  if (bytes <= shared_capacity) return true;
  uint64_t capacity = (bytes + 0xffff) & ~0xffffULL;
  void *got = ::operator new(capacity, std::align_val_t(kSharedAlignment), std::nothrow);
  if (!got) return false;
  ::operator delete(shared_area, std::align_val_t(kSharedAlignment));
  shared_area = (uint8_t *)got;
  memset(shared_area, 0, capacity);
  shared_capacity = capacity;
  return true;
}

bool Executor::run_call(void (*body)(Executor *)) {
  if (!call.mapping && !call.map(kCallStackBytes)) return false;
  call_body = body;
  enter_fibers(&block.main_fiber);
  call.prepare(call_main);
  block.running = &block.main_fiber;
  switch_to(&call);
  return error == 0;
}

Executor *this_executor() {
  static thread_local Owner owner;
  Executor *e = executor_of_thread;
  if (e) return e;
  e = new (std::nothrow) Executor;
  if (!e) return nullptr;
  owner.executor.reset(e);
  e->block.status = &e->status;
  stack_t current{};
  if (sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
    void *got = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got != MAP_FAILED) {
      e->signal_stack = got;
      stack_t mine{};
      mine.ss_sp = got;
      mine.ss_size = kSignalStackBytes;
      sigaltstack(&mine, nullptr);
    }
  }
  executor_of_thread = e;
  block_of_thread = &e->block;
  return e;
}

Fiber *new_fiber(void (*entry)()) {
  Block &b = block();
  std::unique_ptr<Fiber> fiber(new (std::nothrow) Fiber);
  if (!fiber || !fiber->map(kStackBytes)) return nullptr;
  fiber->prepare(entry);
  b.all_fibers.push_back(fiber.get());
  b.free_fibers.reserve(b.all_fibers.size());
  return fiber.release();
}

// Another OS thread may hold what this one spins for.
void idle() {
  static thread_local uint32_t spins;
  __builtin_ia32_pause();
  if (++spins % 64 == 0) sched_yield();
}

void fail(int32_t kind, const char *detail) {
  int error;
  if (const char *text = explain(kind, detail, &error)) {
    const Index &t = thread_index, &b = block_index;
    fprintf(stderr, "tile-migrate: %s: block (%u,%u,%u), thread (%u,%u,%u): %s\n",
            executor_of_thread->kernel, b.x, b.y, b.z, t.x, t.y, t.z, text);
  }
  fail_launch(error);
}

void fail_launch(int error) {
  executor_of_thread->error = error;
  abandon_block();
}

uint32_t resident_blocks(uint64_t threads_per_block, uint64_t shared_bytes) {
  if (!threads_per_block || threads_per_block > kMaxThreads || shared_bytes > kSharedLimit) return 0;
  return std::min<uint32_t>(kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / (uint32_t)threads_per_block);
}

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {
#pragma GCC visibility push(default)

int tm_run_threads(const tm_launch *launch, void (*entry)(void **), void **arguments, uint32_t flags) {
  if (tm_kernel_depth) return kNotSupported;
  if (!valid(launch)) return kInvalidConfiguration;
  install_fault_handlers();
  ThreadsWork work{launch, entry, arguments, (flags & TM_KERNEL_NO_BARRIER) != 0, nullptr, 0, 0};
  uint64_t blocks = block_count(launch);
  if (launch->cooperative || (flags & TM_KERNEL_GRID_BARRIER)) {
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    bool fits = blocks <= (uint64_t)pool_size() * resident_blocks(threads, launch->shared_bytes);
    if (launch->cooperative && !fits) return kCooperativeTooLarge;
    if (fits) {
      Gang gang(blocks);
      work.gang = &gang;
      return run_gang(run_threads_range, &work, blocks);
    }
  }
  return run_shared(launch, (const void *)entry, run_threads_range, &work);
}

int tm_run_blocks(const tm_launch *launch, int (*body)(void *, uint64_t, uint64_t), void *context) {
  if (tm_kernel_depth) return kNotSupported;
  install_fault_handlers();
  BlocksWork work{launch->kernel, body, context, 0, 0};
  return run_shared(launch, (const void *)body, run_blocks_range, &work);
}

void tm_sync_grid(void) {
  Executor *e = executor_of_thread;
  if (!e->gang) {
    const Index &grid = grid_dimensions;
    if ((uint64_t)grid.x * grid.y * grid.z != 1) fail(TM_DIVERGENT_BARRIER, "grid.sync() in a launch that is not cooperative");
    tm_sync_block();
    return;
  }
  // The first thread to go on waits for the other blocks, with all of its own block stopped.
  e->grid_pending = true;
  tm_sync_block();
  if (e->grid_pending) {
    e->grid_pending = false;
    if (int error = e->gang->wait()) fail_launch(error);
  }
  tm_sync_block();
}

#pragma GCC visibility pop
}  // extern "C"
