// The executor's side of a block: guarded shared memory, the grid loop, and its C interface.
#include "block.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "internal.h"
#include "race.h"

__thread uint8_t *g_shared_base TM_THREAD_SYMBOL("tm_shared_base");

namespace tile_migrate {

namespace {

constexpr uint64_t kSharedWindow = 1 << 20;
constexpr uint64_t kSharedAlignment = 128;
// Lowered functions keep what a block's threads hold in local arrays.
constexpr uint64_t kCallStackBytes = 256ULL << 20;

Block the_block;
Fiber call_fiber;
Region shared;
uint64_t dynamic_offset;

void run_block() {
  Block &b = block();
  memset(g_shared_base, b.poison, dynamic_offset + b.dynamic_bytes);
  uint8_t *tail = g_shared_base + dynamic_offset + b.dynamic_bytes, *end = shared.window + shared.window_bytes;
  memset(tail, b.poison, (size_t)(end - tail));
  if (race_on) race_block();
  if (!run_threads()) fail(TM_BAD_ARGUMENT, "no memory for a thread");
  for (; tail < end; ++tail) {
    if (*tail == b.poison) continue;
    b.status->buffer = TM_SHARED_MEMORY;
    b.status->offset = tail - shared.pointer;
    b.status->write = 1;
    b.status->address = (uint64_t)tail;
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
  if (block().schedule == TM_SHUFFLE && blocks <= (1u << 20)) {
    run.busy = true;
    shuffled.resize(blocks);
    run.busy = false;
    for (uint64_t i = 0; i < blocks; ++i) shuffled[i] = (uint32_t)i;
    for (uint64_t i = blocks; i > 1; --i) std::swap(shuffled[i - 1], shuffled[block().next_random() % i]);
    order = &shuffled;
  }
  for (uint64_t i = 0; i < blocks; ++i) {
    uint64_t at = order ? (*order)[i] : block().schedule == TM_REVERSE ? blocks - 1 - i : i;
    block_index = Index{(uint32_t)(at % grid[0]), (uint32_t)(at / grid[0] % grid[1]),
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
  entered_fiber();
  pending_call.entry(pending_call.args);
  switch_to(&block().main_fiber);
  __builtin_unreachable();
}

void run_call(void *raw) {
  pending_call = *(const Call *)raw;
  block().running = &block().main_fiber;
  enter_fibers(&block().main_fiber);
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
  block().dynamic_bytes = launch_bytes;
  uint64_t placed = round_up(static_bytes + launch_bytes, kSharedAlignment);
  g_shared_base = shared.window + shared.window_bytes - placed;
  shared.pointer = g_shared_base;
  block().dynamic_shared = g_shared_base + static_bytes;
  return true;
}

}  // namespace

Fiber *new_fiber(void (*entry)()) {
  run.busy = true;
  Fiber *fiber = new (std::nothrow) Fiber;
  bool made = fiber && fiber->map(kStackBytes);
  if (made) {
    fiber->prepare(entry);
    the_block.all_fibers.push_back(fiber);
    the_block.free_fibers.reserve(the_block.all_fibers.size());
  } else {
    delete fiber;
  }
  run.busy = false;
  if (run.expired) fail(TM_TIMEOUT, "CPU time limit");
  return made ? fiber : nullptr;
}

void idle() {}

const Region &shared_region() { return shared; }

bool in_fiber_guard(const uint8_t *address) {
  if (call_fiber.in_guard(address)) return true;
  for (const Fiber *fiber : the_block.all_fibers)
    if (fiber->in_guard(address)) return true;
  return false;
}

const uint32_t *current_block_index() { return &block_index.x; }

void describe_position(tm_status *status) {
  const Index *thread = &thread_index, *at = &block_index;
  const uint32_t threads[3] = {thread->x, thread->y, thread->z}, blocks[3] = {at->x, at->y, at->z};
  memcpy(status->thread, threads, sizeof threads);
  memcpy(status->block, blocks, sizeof blocks);
}

}  // namespace tile_migrate

extern "C" {
#pragma GCC visibility push(default)

int32_t tm_run_kernel(void (*entry)(void **), const uint32_t grid[3], const uint32_t dims[3],
                      uint64_t shared_static, uint64_t shared_bytes, void **args, tm_arena *arena,
                      const tm_options *options, tm_status *status) {
  tile_migrate::block_of_thread = &tile_migrate::the_block;
  tile_migrate::Block &block = tile_migrate::the_block;
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
  tile_migrate::shape_block(dims);
  block.schedule = options->schedule;
  block.random = options->seed * 2 + 0x9e3779b97f4a7c15ULL;
  block.random |= 1;
  block.poison = (uint8_t)options->poison;
  block.entry = entry;
  block.args = args;
  block.status = status;
  tile_migrate::grid_dimensions = tile_migrate::Index{grid[0], grid[1], grid[2]};
  if (options->race && !tile_migrate::race_begin(options, arena, g_shared_base, shared_static + shared_bytes, (const void *)entry)) {
    snprintf(status->detail, sizeof status->detail, "no memory to look for data races");
    return status->kind;
  }
  tile_migrate::Launch launch{grid, dims};
  int32_t kind = tile_migrate::guarded(tile_migrate::run_grid, &launch, arena, options, status);
  tile_migrate::race_end();
  if (kind != TM_OK) block.fibers_dirty = true;
  return kind;
}

int32_t tm_run_trampoline(void (*entry)(void **), void **args, tm_arena *arena,
                          const tm_options *options, tm_status *status) {
  tile_migrate::block_of_thread = &tile_migrate::the_block;
  tile_migrate::Block &block = tile_migrate::the_block;
  memset(status, 0, sizeof *status);
  status->buffer = TM_NO_BUFFER;
  status->kind = TM_BAD_ARGUMENT;
  if (!tile_migrate::call_fiber.mapping && !tile_migrate::call_fiber.map(tile_migrate::kCallStackBytes)) return status->kind;
  if (!tile_migrate::prepare_shared(0, 0)) return status->kind;
  block.count = block.started = 0;
  block.current = nullptr;
  block.queue_size = 0;
  tile_migrate::thread_index = tile_migrate::block_index = tile_migrate::Index{0, 0, 0};
  tile_migrate::Call call{entry, args};
  return tile_migrate::guarded(tile_migrate::run_call, &call, arena, options, status);
}

void tm_sync_grid(void) { tile_migrate::fail(TM_TRAP, "grid-wide synchronisation"); }

#pragma GCC visibility pop
}  // extern "C"
