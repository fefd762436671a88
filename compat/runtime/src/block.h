// The threads of one block as fibers: what the scheduler and the warp operations share.
#ifndef TM_BLOCK_H
#define TM_BLOCK_H

#include <stdint.h>

#include <vector>

#include "fiber.h"
#include "tm_executor.h"

#define TM_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#define TM_THREAD_SYMBOL(symbol) \
  __asm__(symbol) __attribute__((tls_model("initial-exec"), visibility("default")))

namespace tile_migrate {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kMaxThreads = 1024;

enum class State : uint8_t { kUnstarted, kRunnable, kAtBarrier, kAtWarp, kFinished };
enum class WarpOp : uint8_t { kSync, kShuffle, kBallot, kMatchAny, kMatchAll, kReduce, kActive };

struct Thread {
  State state;
  WarpOp op;
  uint8_t kind;       // of a shuffle or reduction
  bool is_signed;
  int width;
  unsigned operand;   // lane, delta or mask of a shuffle
  unsigned mask;
  int predicate;
  bool valid;
  uint64_t value;
  uint64_t result;
  Fiber *fiber;
  uint32_t index[3];
  uint32_t flat;
};

// Lanes of one warp, a bit each.
struct Warp {
  uint32_t alive;    // not finished
  uint32_t waiting;  // at a warp operation other than __activemask
};

struct Block {
  Warp warps[kMaxThreads / kWarp];
  std::vector<Thread> threads;
  std::vector<uint32_t> order;      // in which threads start; re-drawn for a shuffle
  std::vector<Thread *> queue;      // ring of released threads
  size_t queue_head = 0, queue_size = 0;
  uint32_t count = 0, started = 0, finished = 0, at_barrier = 0;
  bool drawn = false;      // order holds the forward schedule
  bool start_one = false;  // a yielding thread gives an unstarted one its turn
  Thread *current = nullptr;
  uint32_t schedule = TM_FORWARD;
  uint64_t random = 0;
  uint8_t poison = 0;
  void (*entry)(void **) = nullptr;
  void **args = nullptr;
  tm_status *status = nullptr;
  uint32_t at_warp = 0, barrier_count = 0;
  std::vector<Fiber *> all_fibers, free_fibers;
  Fiber main_fiber;           // whoever runs the block
  Fiber *running = nullptr;
  bool fibers_dirty = false;  // abandoned fibers hold dead frames
  uint8_t *dynamic_shared = nullptr;
  uint64_t dynamic_bytes = 0;

  void release(Thread *thread) {
    thread->state = State::kRunnable;
    size_t at = queue_head + queue_size++;
    queue[at >= queue.size() ? at - queue.size() : at] = thread;
  }
  uint64_t next_random() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  }
};

// The block that the calling OS thread runs. Fibers never change their OS thread.
extern __thread Block *block_of_thread TM_INITIAL_EXEC;
inline Block &block() { return *block_of_thread; }

// What programs read: indices of the current thread and of its block.
struct Index {
  uint32_t x, y, z;
};
extern __thread Index thread_index TM_THREAD_SYMBOL("tm_thread_idx");
extern __thread Index block_index TM_THREAD_SYMBOL("tm_block_idx");
extern __thread Index block_dimensions TM_THREAD_SYMBOL("tm_block_dim");
extern __thread Index grid_dimensions TM_THREAD_SYMBOL("tm_grid_dim");

// Sizes the tables of the block for `dimensions` (at most kMaxThreads threads in all).
void shape_block(const uint32_t dimensions[3]);
// Runs the threads of one block on fibers; returns when all have finished, or after abandon_block.
// False: no memory to start any.
bool run_threads();
// Leaves every thread of the block where it is and returns to the caller of run_threads.
[[noreturn]] void abandon_block();
void switch_to(Fiber *fiber);
// The current thread; fails where threads run without fibers.
Thread *current_thread();
// Called in a thread: ends it without returning from its function.
[[noreturn]] void exit_thread();

// Defined by the host of the scheduler. A fiber that enters `entry` when switched to; null: no memory.
Fiber *new_fiber(void (*entry)());
// Nothing else of the block can run while the current thread spins.
void idle();
[[noreturn]] void fail(int32_t kind, const char *detail);

// Suspends the current thread until it is released (its state is already set).
void suspend();
// Releases a group of threads in the order that the schedule asks for.
void release_group(Thread **group, uint32_t size);
// Called when a thread of the warp arrives or exits: completes whichever groups can be.
void complete_warp_groups(uint32_t warp);
// Called when no thread can run: lets lanes at __activemask go on. True if any was released.
bool resolve_active_masks();

}  // namespace tile_migrate

#endif
