// Scheduling of a block's threads on fibers, block barriers, and what device code calls for them.
//
// Shared by the verifier's executor and the program runtime: neither memory, faults nor the grid is
// known here.
#include <string.h>
#include <time.h>

#include <algorithm>
#include <new>

#include "block.h"
#include "race.h"

namespace tile_migrate {

__thread Block *block_of_thread TM_INITIAL_EXEC;
__thread Index thread_index TM_THREAD_SYMBOL("tm_thread_idx");
__thread Index block_index TM_THREAD_SYMBOL("tm_block_idx");
__thread Index block_dimensions TM_THREAD_SYMBOL("tm_block_dim");
__thread Index grid_dimensions TM_THREAD_SYMBOL("tm_grid_dim");

namespace {

void fiber_main();

Fiber *take_fiber() {
  Block &b = block();
  if (!b.free_fibers.empty()) {
    Fiber *fiber = b.free_fibers.back();
    b.free_fibers.pop_back();
    return fiber;
  }
  Fiber *fiber = new_fiber(fiber_main);
  if (!fiber && b.running != &b.main_fiber) fail(TM_BAD_ARGUMENT, "no memory for a thread");
  return fiber;
}

void make_current(Thread *thread) {
  block().current = thread;
  thread_index = Index{thread->index[0], thread->index[1], thread->index[2]};
}

void complete_barrier() {
  Block &b = block();
  if (!b.at_barrier || b.at_barrier + b.finished != b.count) return;
  uint64_t result = (uint64_t)b.barrier_count | (uint64_t)b.at_barrier << 32;
  Thread *group[kMaxThreads];
  uint32_t size = 0;
  for (Thread &thread : b.threads) {
    if (thread.state != State::kAtBarrier) continue;
    thread.result = result;
    group[size++] = &thread;
  }
  b.at_barrier = b.barrier_count = 0;
  if (race_on) race_barrier();
  release_group(group, size);
}

[[noreturn]] void fail_stuck() {
  Thread *at_warp = nullptr, *at_barrier = nullptr;
  for (Thread &thread : block().threads) {
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
  Block &b = block();
  for (;;) {
    if (b.queue_size) {
      Thread *thread = b.queue[b.queue_head];
      b.queue_head = b.queue_head + 1 == b.queue.size() ? 0 : b.queue_head + 1;
      --b.queue_size;
      if (b.queue_size) b.queue[b.queue_head]->fiber->prefetch();
      make_current(thread);
      switch_to(thread->fiber);
      return;
    }
    if (b.started < b.count) {
      switch_to(take_fiber());
      return;
    }
    if (b.finished == b.count) {
      switch_to(&b.main_fiber);
      return;
    }
    if (!resolve_active_masks()) fail_stuck();
  }
}

void finish_current() {
  if (race_on) race_settle();
  Block &b = block();
  Thread *thread = b.current;
  thread->state = State::kFinished;
  ++b.finished;
  b.warps[thread->flat / kWarp].alive &= ~(1u << thread->flat % kWarp);
  if (b.at_warp) complete_warp_groups(thread->flat / kWarp);
  complete_barrier();
}

void fiber_main() {
  entered_fiber();
  for (;;) {
    Block &b = block();
    while ((!b.queue_size || b.start_one) && b.started < b.count) {
      b.start_one = false;
      Thread *thread = &b.threads[b.order[b.started++]];
      thread->state = State::kRunnable;
      thread->fiber = b.running;
      make_current(thread);
      b.entry(b.args);
      finish_current();
    }
    b.free_fibers.push_back(b.running);
    run_next();
  }
}

void draw_order() {
  Block &b = block();
  for (uint32_t i = 0; i < b.count; ++i) b.order[i] = b.schedule == TM_REVERSE ? b.count - 1 - i : i;
  if (b.schedule != TM_SHUFFLE) return;
  for (uint32_t i = b.count; i > 1; --i) std::swap(b.order[i - 1], b.order[b.next_random() % i]);
}

// Fibers that a run abandoned start afresh.
void reset_fibers() {
  Block &b = block();
  if (!b.fibers_dirty) return;
  b.free_fibers.clear();
  for (Fiber *fiber : b.all_fibers) {
    fiber->prepare(fiber_main);
    b.free_fibers.push_back(fiber);
  }
  b.fibers_dirty = false;
}

int arrive_at_barrier(int predicate) {
  if (race_on) race_settle();
  Thread *self = current_thread();
  Block &b = block();
  self->state = State::kAtBarrier;
  ++b.at_barrier;
  b.barrier_count += predicate != 0;
  complete_barrier();
  suspend();
  return (int)(uint32_t)self->result;
}

}  // namespace

Thread *current_thread() {
  Block &b = block();
  if (!b.current) fail(TM_BAD_WARP_OPERATION, "a barrier in a kernel that was said to have none");
  return b.current;
}

void switch_to(Fiber *fiber) {
  Block &b = block();
  if (fiber == b.running) return;
  Fiber *from = b.running;
  b.running = fiber;
  switch_fiber(from, fiber);
}

void suspend() { run_next(); }

void release_group(Thread **group, uint32_t size) {
  Block &b = block();
  if (b.schedule == TM_REVERSE) std::reverse(group, group + size);
  if (b.schedule == TM_SHUFFLE)
    for (uint32_t i = size; i > 1; --i) std::swap(group[i - 1], group[b.next_random() % i]);
  for (uint32_t i = 0; i < size; ++i) b.release(group[i]);
}

void shape_block(const uint32_t dimensions[3]) {
  Block &b = block();
  uint32_t count = dimensions[0] * dimensions[1] * dimensions[2];
  bool same = b.count == count && block_dimensions.x == dimensions[0] &&
              block_dimensions.y == dimensions[1] && b.threads.size() == count;
  block_dimensions = Index{dimensions[0], dimensions[1], dimensions[2]};
  if (same) return;
  b.count = count;
  b.threads.resize(count);
  b.order.resize(count);
  b.queue.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    Thread &thread = b.threads[i];
    thread.index[0] = i % dimensions[0];
    thread.index[1] = i / dimensions[0] % dimensions[1];
    thread.index[2] = i / dimensions[0] / dimensions[1];
    thread.flat = i;
  }
  b.drawn = false;
}

bool run_threads() {
  reset_fibers();
  Block &b = block();
  b.started = b.finished = b.at_barrier = b.barrier_count = b.at_warp = 0;
  b.queue_head = b.queue_size = 0;
  b.start_one = false;
  for (Thread &thread : b.threads) thread.state = State::kUnstarted;
  for (uint32_t first = 0; first < b.count; first += kWarp)
    b.warps[first / kWarp] = Warp{b.count - first < kWarp ? (1u << (b.count - first)) - 1 : ~0u, 0};
  if (!b.drawn || b.schedule != TM_FORWARD) draw_order();
  b.drawn = b.schedule == TM_FORWARD;
  b.running = &b.main_fiber;
  enter_fibers(&b.main_fiber);
  Fiber *first = take_fiber();
  if (first) switch_to(first);
  return first != nullptr;
}

void abandon_block() {
  Block &b = block();
  b.fibers_dirty = true;
  switch_to(&b.main_fiber);
  __builtin_unreachable();
}

void exit_thread() {
  Thread *self = current_thread();
  finish_current();
  self->fiber->restart(fiber_main);
}

}  // namespace tile_migrate

using tile_migrate::block;

extern "C" {
#pragma GCC visibility push(default)

void tm_sync_block(void) { tile_migrate::arrive_at_barrier(0); }
int tm_sync_block_count(int predicate) { return tile_migrate::arrive_at_barrier(predicate); }
int tm_sync_block_and(int predicate) {
  int count = tile_migrate::arrive_at_barrier(predicate);
  return count == (int)(block().current->result >> 32);
}
int tm_sync_block_or(int predicate) { return tile_migrate::arrive_at_barrier(predicate) != 0; }

// Lets the other threads of the block go on: what a spinning thread needs.
void tm_yield(void) {
  tile_migrate::Block &b = block();
  if (!b.current || (b.queue_size == 0 && b.started == b.count)) {
    tile_migrate::idle();
    return;
  }
  if (tile_migrate::race_on) tile_migrate::race_settle();
  b.release(b.current);
  if (b.started < b.count) {
    b.start_one = true;
    tile_migrate::switch_to(tile_migrate::take_fiber());
    return;
  }
  tile_migrate::suspend();
}

void tm_trap(void) { tile_migrate::fail(TM_TRAP, "trap"); }
void tm_exit_thread(void) { tile_migrate::exit_thread(); }
long long tm_clock(void) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void *tm_dynamic_shared(void) { return block().dynamic_shared; }
unsigned tm_dynamic_shared_size(void) { return (unsigned)block().dynamic_bytes; }

#pragma GCC visibility pop
}  // extern "C"
