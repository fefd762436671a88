// The threads of one block as fibers: what the scheduler and the warp operations share.
#ifndef TM_BLOCK_H
#define TM_BLOCK_H

#include <stdint.h>

#include <vector>

#include "fiber.h"
#include "internal.h"

namespace tile_migrate {

constexpr uint32_t kWarp = 32;

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

struct Block {
  std::vector<Thread> threads;
  std::vector<uint32_t> order;      // in which threads start; re-drawn for a shuffle
  std::vector<Thread *> queue;      // ring of released threads
  size_t queue_head = 0, queue_size = 0;
  uint32_t count = 0, started = 0, finished = 0, at_barrier = 0;
  bool start_one = false;  // a yielding thread gives an unstarted one its turn
  Thread *current = nullptr;
  uint32_t schedule = TM_FORWARD;
  uint64_t random = 0;
  uint8_t poison = 0;
  void (*entry)(void **) = nullptr;
  void **args = nullptr;
  tm_status *status = nullptr;

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
extern Block block;

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
