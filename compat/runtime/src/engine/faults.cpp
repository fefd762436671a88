// Signals that a kernel's own code raises end its launch; all others go to the program's handlers.
//
// A handler never jumps: it lets the interrupted code continue in a function that leaves the fiber.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "divide.h"
#include "executor.h"

namespace tile_migrate {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kSignalCount = sizeof kSignals / sizeof *kSignals;
struct sigaction previous[kSignalCount];
std::mutex installing;

int slot_of(int number) {
  for (int i = 0; i < kSignalCount; ++i)
    if (kSignals[i] == number) return i;
  return 0;
}

// The fiber that the calling thread runs a kernel on; null outside kernels.
Fiber *kernel_fiber() {
  if (!tm_kernel_depth || !executor_of_thread) return nullptr;
  Block &b = executor_of_thread->block;
  return b.running == &b.main_fiber ? nullptr : b.running;
}

void leave_illegal_address() { fail(TM_WILD_ACCESS, "illegal address"); }
void leave_stack_overflow() { fail(TM_STACK_OVERFLOW, "local memory of a thread exhausted"); }
void leave_trap() { fail(TM_TRAP, "trap"); }

void pass_on(int number, siginfo_t *info, void *context) {
  const struct sigaction &old = previous[slot_of(number)];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(number, info, context);
  } else if (old.sa_handler == SIG_IGN && info->si_code <= 0) {
    return;
  } else if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
    signal(number, SIG_DFL);
    if (info->si_code <= 0) raise(number);  // sent: the faulting instruction would not repeat it
  } else {
    old.sa_handler(number);
  }
}

void on_signal(int number, siginfo_t *info, void *raw) {
  int saved = errno;
  Fiber *fiber = info->si_code > 0 ? kernel_fiber() : nullptr;
  if (!fiber) {
    pass_on(number, info, raw);
    errno = saved;
    return;
  }
  if (number == SIGFPE && emulate_trapped_division(raw)) return;
  void (*leave)() = leave_trap;
  if (number == SIGSEGV || number == SIGBUS) {
    leave = fiber->in_guard(info->si_addr) ? leave_stack_overflow : leave_illegal_address;
  }
  // The frames of the fiber are dead: it continues at the top of its stack.
  fiber->forget_frames();
  uint64_t top = (uint64_t)fiber->low() + fiber->bytes - kPage;
#ifdef __x86_64__
  greg_t *registers = ((ucontext_t *)raw)->uc_mcontext.gregs;
  registers[REG_RSP] = (greg_t)(top - 8);
  registers[REG_RIP] = (greg_t)leave;
  registers[REG_EFL] &= ~0x400LL;
#elif defined(__aarch64__)
  ((ucontext_t *)raw)->uc_mcontext.sp = top;
  ((ucontext_t *)raw)->uc_mcontext.pc = (uint64_t)leave;
#else
#error "where a handler returns to"
#endif
}

}  // namespace

void install_fault_handlers() {
  // Asking the kernel costs more than a small launch: once a clock tick is enough.
  static std::atomic<int64_t> looked{-1};
  timespec now_coarse;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now_coarse);
  int64_t tick = now_coarse.tv_sec * 1000000000LL + now_coarse.tv_nsec;
  if (looked.load(std::memory_order_acquire) == tick) return;
  for (int i = 0; i < kSignalCount; ++i) {
    struct sigaction now;
    sigaction(kSignals[i], nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal) continue;
    std::lock_guard<std::mutex> lock(installing);
    sigaction(kSignals[i], nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal) continue;
    struct sigaction mine {};
    mine.sa_sigaction = on_signal;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&mine.sa_mask);
    previous[i] = now;
    sigaction(kSignals[i], &mine, nullptr);
  }
  looked.store(tick, std::memory_order_release);
}

}  // namespace tile_migrate
