// Scheduling of a block's threads, block barriers, and the grid loop.
#include "block.h"
#include "race.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <new>

#define TM_EXPORTED(symbol) \
  __asm__(symbol) __attribute__((tls_model("initial-exec"), visibility("default"), used))
struct TmIndex {
  uint32_t x, y, z;
};
__thread TmIndex g_thread_idx TM_EXPORTED("tm_thread_idx");
__thread TmIndex g_block_idx TM_EXPORTED("tm_block_idx");
__thread TmIndex g_block_dim TM_EXPORTED("tm_block_dim");
__thread TmIndex g_grid_dim TM_EXPORTED("tm_grid_dim");
__thread uint8_t *g_shared_base TM_EXPORTED("tm_shared_base");

namespace tile_migrate {

Block block;

namespace {

constexpr uint64_t kSharedWindow = 1 << 20;
constexpr uint64_t kSharedAlignment = 128;
// Lowered functions keep what a block's threads hold in local arrays.
constexpr uint64_t kCallStackBytes = 256ULL << 20;
constexpr uint32_t kMaxThreads = 1024;

std::vector<Fiber *> all_fibers;
std::vector<Fiber *> free_fibers;
Fiber main_fiber, call_fiber;
Fiber *running = nullptr;
bool fibers_dirty = false;
Region shared;
uint64_t dynamic_offset, dynamic_bytes;

void fiber_main();

Fiber *take_fiber() {
  if (!free_fibers.empty()) {
    Fiber *fiber = free_fibers.back();
    free_fibers.pop_back();
    return fiber;
  }
  run.busy = true;
  Fiber *fiber = new (std::nothrow) Fiber;
  bool made = fiber && fiber->map(kStackBytes);
  if (made) {
    fiber->prepare(fiber_main);
    all_fibers.push_back(fiber);
    free_fibers.reserve(all_fibers.size());
  } else {
    delete fiber;
  }
  run.busy = false;
  if (run.expired) fail(TM_TIMEOUT, "CPU time limit");
  if (!made) fail(TM_BAD_ARGUMENT, "no memory for a thread");
  return fiber;
}

// Fibers that a run abandoned hold dead frames: they start afresh.
void reset_fibers() {
  if (!fibers_dirty) return;
  free_fibers.clear();
  for (Fiber *fiber : all_fibers) {
    fiber->prepare(fiber_main);
    free_fibers.push_back(fiber);
  }
  fibers_dirty = false;
}

void make_current(Thread *thread) {
  block.current = thread;
  g_thread_idx = TmIndex{thread->index[0], thread->index[1], thread->index[2]};
}

void switch_to(Fiber *fiber) {
  if (fiber == running) return;
  Fiber *from = running;
  running = fiber;
  switch_fiber(from, fiber);
}

void complete_barrier() {
  if (!block.at_barrier || block.at_barrier + block.finished != block.count) return;
  int count = 0;
  for (Thread &thread : block.threads)
    if (thread.state == State::kAtBarrier) count += thread.predicate != 0;
  Thread *group[kMaxThreads];
  uint32_t size = 0;
  for (Thread &thread : block.threads) {
    if (thread.state != State::kAtBarrier) continue;
    thread.result = (uint64_t)count | (uint64_t)block.at_barrier << 32;
    group[size++] = &thread;
  }
  block.at_barrier = 0;
  if (race_on) race_barrier();
  release_group(group, size);
}

[[noreturn]] void fail_stuck() {
  Thread *at_warp = nullptr, *at_barrier = nullptr;
  for (Thread &thread : block.threads) {
    if (thread.state == State::kAtWarp && !at_warp) at_warp = &thread;
    if (thread.state == State::kAtBarrier && !at_barrier) at_barrier = &thread;
  }
  make_current(at_warp ? at_warp : at_barrier);
  fail(TM_DIVERGENT_BARRIER, at_warp && at_barrier ? "threads wait at different barriers"
                             : at_warp             ? "a warp operation that some lanes never reach"
                                                   : "a barrier that some threads never reach");
}

// Leaves the running fiber for whatever can go on next.
void run_next() {
  for (;;) {
    if (block.queue_size) {
      Thread *thread = block.queue[block.queue_head];
      block.queue_head = block.queue_head + 1 == block.queue.size() ? 0 : block.queue_head + 1;
      --block.queue_size;
      make_current(thread);
      switch_to(thread->fiber);
      return;
    }
    if (block.started < block.count) {
      switch_to(take_fiber());
      return;
    }
    if (block.finished == block.count) {
      switch_to(&main_fiber);
      return;
    }
    if (!resolve_active_masks()) fail_stuck();
  }
}

void finish_current() {
  if (race_on) race_settle();
  Thread *thread = block.current;
  thread->state = State::kFinished;
  ++block.finished;
  complete_warp_groups(thread->flat / kWarp);
  complete_barrier();
}

void fiber_main() {
  for (;;) {
    while ((!block.queue_size || block.start_one) && block.started < block.count) {
      block.start_one = false;
      Thread *thread = &block.threads[block.order[block.started++]];
      thread->state = State::kRunnable;
      thread->fiber = running;
      make_current(thread);
      block.entry(block.args);
      finish_current();
    }
    free_fibers.push_back(running);
    run_next();
  }
}

void draw_order() {
  for (uint32_t i = 0; i < block.count; ++i)
    block.order[i] = block.schedule == TM_REVERSE ? block.count - 1 - i : i;
  if (block.schedule != TM_SHUFFLE) return;
  for (uint32_t i = block.count; i > 1; --i)
    std::swap(block.order[i - 1], block.order[block.next_random() % i]);
}

void run_block() {
  block.started = block.finished = block.at_barrier = 0;
  block.queue_head = block.queue_size = 0;
  block.start_one = false;
  for (Thread &thread : block.threads) thread.state = State::kUnstarted;
  draw_order();
  memset(g_shared_base, block.poison, dynamic_offset + dynamic_bytes);
  uint8_t *tail = g_shared_base + dynamic_offset + dynamic_bytes, *end = shared.window + shared.window_bytes;
  memset(tail, block.poison, (size_t)(end - tail));
  running = &main_fiber;
  if (race_on) race_block();
  switch_to(take_fiber());
  for (; tail < end; ++tail) {
    if (*tail == block.poison) continue;
    block.status->buffer = TM_SHARED_MEMORY;
    block.status->offset = tail - shared.pointer;
    block.status->write = 1;
    block.status->address = (uint64_t)tail;
    fail(TM_OUT_OF_BOUNDS, "outside shared memory");
  }
}

struct Launch {
  const uint32_t *grid;
  const uint32_t *dims;
};

void run_grid(void *raw) {
  const Launch &launch = *(const Launch *)raw;
  const uint32_t *grid = launch.grid;
  uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
  std::vector<uint32_t> *order = nullptr;
  static std::vector<uint32_t> shuffled;
  if (block.schedule == TM_SHUFFLE && blocks <= (1u << 20)) {
    run.busy = true;
    shuffled.resize(blocks);
    run.busy = false;
    for (uint64_t i = 0; i < blocks; ++i) shuffled[i] = (uint32_t)i;
    for (uint64_t i = blocks; i > 1; --i) std::swap(shuffled[i - 1], shuffled[block.next_random() % i]);
    order = &shuffled;
  }
  for (uint64_t i = 0; i < blocks; ++i) {
    uint64_t at = order ? (*order)[i] : block.schedule == TM_REVERSE ? blocks - 1 - i : i;
    g_block_idx = TmIndex{(uint32_t)(at % grid[0]), (uint32_t)(at / grid[0] % grid[1]),
                          (uint32_t)(at / grid[0] / grid[1])};
    run_block();
  }
}

struct Call {
  void (*entry)(void **);
  void **args;
};
Call pending_call;

void call_main() {
  pending_call.entry(pending_call.args);
  switch_to(&main_fiber);
  __builtin_unreachable();
}

void run_call(void *raw) {
  pending_call = *(const Call *)raw;
  running = &main_fiber;
  call_fiber.prepare(call_main);
  switch_to(&call_fiber);
}

bool prepare_shared(uint64_t static_bytes, uint64_t launch_bytes) {
  if (static_bytes + launch_bytes > kSharedWindow) return false;
  if (!shared.mapping) {
    if (!shared.reserve(kSharedWindow)) return false;
    if (mprotect(shared.window, shared.window_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  }
  dynamic_offset = static_bytes;
  dynamic_bytes = launch_bytes;
  uint64_t placed = round_up(static_bytes + launch_bytes, kSharedAlignment);
  g_shared_base = shared.window + shared.window_bytes - placed;
  shared.pointer = g_shared_base;
  return true;
}

int arrive_at_barrier(int predicate) {
  if (race_on) race_settle();
  Thread *self = block.current;
  self->predicate = predicate;
  self->state = State::kAtBarrier;
  ++block.at_barrier;
  complete_barrier();
  suspend();
  return (int)(uint32_t)self->result;
}

}  // namespace

void suspend() { run_next(); }

void release_group(Thread **group, uint32_t size) {
  if (block.schedule == TM_REVERSE) std::reverse(group, group + size);
  if (block.schedule == TM_SHUFFLE)
    for (uint32_t i = size; i > 1; --i) std::swap(group[i - 1], group[block.next_random() % i]);
  for (uint32_t i = 0; i < size; ++i) block.release(group[i]);
}

const Region &shared_region() { return shared; }

bool in_fiber_guard(const uint8_t *address) {
  const uint8_t *call = call_fiber.mapping;
  if (call && address >= call && address < call + kPage) return true;
  for (const Fiber *fiber : all_fibers)
    if (address >= fiber->mapping && address < fiber->mapping + kPage) return true;
  return false;
}

const uint32_t *current_block_index() { return &g_block_idx.x; }

void describe_position(tm_status *status) {
  const TmIndex *thread = &g_thread_idx, *at = &g_block_idx;
  const uint32_t threads[3] = {thread->x, thread->y, thread->z}, blocks[3] = {at->x, at->y, at->z};
  memcpy(status->thread, threads, sizeof threads);
  memcpy(status->block, blocks, sizeof blocks);
}

}  // namespace tile_migrate

using tile_migrate::block;

extern "C" {
#pragma GCC visibility push(default)

int32_t tm_run_kernel(void (*entry)(void **), const uint32_t grid[3], const uint32_t dims[3],
                      uint64_t shared_static, uint64_t shared_bytes, void **args, tm_arena *arena,
                      const tm_options *options, tm_status *status) {
  memset(status, 0, sizeof *status);
  status->buffer = TM_NO_BUFFER;
  status->kind = TM_BAD_ARGUMENT;
  uint64_t count = (uint64_t)dims[0] * dims[1] * dims[2];
  if (count == 0 || count > tile_migrate::kMaxThreads || dims[0] > 1024 || dims[1] > 1024 || dims[2] > 64 ||
      grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[0] > 0x7fffffffu || grid[1] > 65535 ||
      grid[2] > 65535) {
    snprintf(status->detail, sizeof status->detail, "a launch configuration that no device accepts");
    return status->kind;
  }
  if (!tile_migrate::prepare_shared(shared_static, shared_bytes)) {
    snprintf(status->detail, sizeof status->detail, "too much shared memory");
    return status->kind;
  }
  tile_migrate::reset_fibers();
  block.count = (uint32_t)count;
  block.threads.resize(count);
  block.order.resize(count);
  block.queue.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    tile_migrate::Thread &thread = block.threads[i];
    thread.index[0] = i % dims[0];
    thread.index[1] = i / dims[0] % dims[1];
    thread.index[2] = i / dims[0] / dims[1];
    thread.flat = i;
  }
  block.schedule = options->schedule;
  block.random = options->seed * 2 + 0x9e3779b97f4a7c15ULL;
  block.random |= 1;
  block.poison = (uint8_t)options->poison;
  block.entry = entry;
  block.args = args;
  block.status = status;
  g_block_dim = TmIndex{dims[0], dims[1], dims[2]};
  g_grid_dim = TmIndex{grid[0], grid[1], grid[2]};
  if (options->race && !tile_migrate::race_begin(options, arena, g_shared_base, shared_static + shared_bytes, (const void *)entry)) {
    snprintf(status->detail, sizeof status->detail, "no memory to look for data races");
    return status->kind;
  }
  tile_migrate::Launch launch{grid, dims};
  int32_t kind = tile_migrate::guarded(tile_migrate::run_grid, &launch, arena, options, status);
  tile_migrate::race_end();
  if (kind != TM_OK) tile_migrate::fibers_dirty = true;
  return kind;
}

int32_t tm_run_trampoline(void (*entry)(void **), void **args, tm_arena *arena,
                          const tm_options *options, tm_status *status) {
  memset(status, 0, sizeof *status);
  status->buffer = TM_NO_BUFFER;
  status->kind = TM_BAD_ARGUMENT;
  if (!tile_migrate::call_fiber.mapping && !tile_migrate::call_fiber.map(tile_migrate::kCallStackBytes)) return status->kind;
  if (!tile_migrate::prepare_shared(0, 0)) return status->kind;
  block.count = block.started = 0;
  block.queue_size = 0;
  g_thread_idx = g_block_idx = TmIndex{0, 0, 0};
  tile_migrate::Call call{entry, args};
  return tile_migrate::guarded(tile_migrate::run_call, &call, arena, options, status);
}

void tm_sync_block(void) { tile_migrate::arrive_at_barrier(0); }
int tm_sync_block_count(int predicate) { return tile_migrate::arrive_at_barrier(predicate); }
int tm_sync_block_and(int predicate) {
  tile_migrate::Thread *self = block.current;
  int count = tile_migrate::arrive_at_barrier(predicate);
  return count == (int)(self->result >> 32);
}
int tm_sync_block_or(int predicate) { return tile_migrate::arrive_at_barrier(predicate) != 0; }

// Lets the other threads of the block go on: what a spinning thread needs.
void tm_yield(void) {
  if (block.queue_size == 0 && block.started == block.count) return;
  if (tile_migrate::race_on) tile_migrate::race_settle();
  block.release(block.current);
  if (block.started < block.count) {
    block.start_one = true;
    tile_migrate::switch_to(tile_migrate::take_fiber());
    return;
  }
  tile_migrate::suspend();
}

void tm_trap(void) { tile_migrate::fail(TM_TRAP, "trap"); }
long long tm_clock(void) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void *tm_dynamic_shared(void) { return g_shared_base + tile_migrate::dynamic_offset; }
unsigned tm_dynamic_shared_size(void) { return (unsigned)tile_migrate::dynamic_bytes; }

#pragma GCC visibility pop
}  // extern "C"
