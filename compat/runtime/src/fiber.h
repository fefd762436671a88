// Fibers: stacks with a guard page, and the switch between them.
#ifndef TM_FIBER_H
#define TM_FIBER_H

#include <stdint.h>
#include <sys/mman.h>

#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace tile_migrate {

constexpr uint64_t kStackBytes = 512 * 1024;

struct Fiber {
  uint8_t *mapping = nullptr;
#ifdef __x86_64__
  void *stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
  uint64_t bytes = 0;
  bool map(uint64_t stack_bytes);
  void prepare(void (*entry)());  // makes the next switch to it call entry, which must not return
};

void switch_fiber(Fiber *from, Fiber *to);

}  // namespace tile_migrate

#endif
