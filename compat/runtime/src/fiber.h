// Fibers: stacks with a guard page, and the switch between them.
#ifndef TM_FIBER_H
#define TM_FIBER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace tile_migrate {

constexpr uint64_t kPage = 4096;
// Local memory of a CUDA thread is at most 512 KiB.
constexpr uint64_t kStackBytes = 640 * 1024;
// An odd number of pages from stack to stack: they spread over the sets of every cache.
constexpr uint64_t kGuardBytes = 68 * 1024;
static_assert((kStackBytes + kGuardBytes) / kPage % 2 == 1, "stacks share cache sets");

struct Fiber {
  uint8_t *mapping = nullptr;
#ifdef __x86_64__
  void *stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
  uint64_t bytes = 0;
  uint8_t *low() const { return mapping + kGuardBytes; }
  bool in_guard(const void *address) const {
    return mapping && (const uint8_t *)address >= mapping && (const uint8_t *)address < low();
  }
#ifdef __SANITIZE_THREAD__
  void *thread_sanitizer = nullptr;
#endif
#ifdef __SANITIZE_ADDRESS__
  void *fake_stack = nullptr;
  const void *bottom = nullptr;
  size_t stack_bytes = 0;
#endif
  // Brings in what a switch to it reads first.
  void prefetch() const {
#ifdef __x86_64__
    __builtin_prefetch(stack_pointer, 1);
    __builtin_prefetch((const char *)stack_pointer + 64, 1);
#endif
  }
  bool map(uint64_t stack_bytes);
  void unmap();
  void forget_frames();  // before its stack is used afresh: sanitizers keep notes of frames
  void prepare(void (*entry)());  // makes the next switch to it call entry, which must not return
  // Called on the fiber itself: it goes on as if it had just been prepared and switched to.
  [[noreturn]] void restart(void (*entry)());

 private:
  void lay_out(void (*entry)());
};

void switch_fiber(Fiber *from, Fiber *to);
// First call of every entry: tells an address sanitizer that the switch is complete.
void entered_fiber();
// Makes `fiber` stand for the stack that the caller is on.
void enter_fibers(Fiber *fiber);

}  // namespace tile_migrate

#endif
