// The guarded run: signal handlers that turn faults, traps and time-outs into a status.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "divide.h"
#include "internal.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace tile_migrate {

Run run;

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
constexpr int kSignalCount = sizeof kSignals / sizeof *kSignals;
constexpr size_t kAlternateStack = 64 * 1024;

int timer_signal() { return SIGRTMIN + 5; }

// Pages of traced buffers that the instruction being single-stepped has made accessible.
uint8_t *stepped_pages[8];
int stepped_count;

[[noreturn]] void escape() {
  run.active = false;
  siglongjmp(run.escape, 1);
}

void end_step() {
  for (int i = 0; i < stepped_count; ++i) protect_page(stepped_pages[i]);
  stepped_count = 0;
}

#ifdef __x86_64__
bool is_write(const ucontext_t *context) { return context->uc_mcontext.gregs[REG_ERR] & 2; }

bool begin_step(ucontext_t *context, uint8_t *page) {
  if (stepped_count == (int)(sizeof stepped_pages / sizeof *stepped_pages)) return false;
  stepped_pages[stepped_count++] = page;
  context->uc_mcontext.gregs[REG_EFL] |= 0x100;
  return true;
}

bool handle_step(ucontext_t *context) {
  if (!stepped_count) return false;
  end_step();
  context->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
  return true;
}
#else
bool is_write(const ucontext_t *) { return false; }
bool begin_step(ucontext_t *, uint8_t *) { return false; }
bool handle_step(ucontext_t *) { return false; }
#endif

[[noreturn]] void stop(int32_t kind, const char *detail) {
  run.status->kind = kind;
  snprintf(run.status->detail, sizeof run.status->detail, "%s", detail);
  describe_position(run.status);
  escape();
}

void handle_fault(uint8_t *address, ucontext_t *context) {
  bool write = is_write(context);
  run.status->address = (uint64_t)address;
  run.status->write = write;
  int32_t id = TM_NO_BUFFER;
  if (Region *region = find_region(run.arena, address, &id)) {
    run.status->buffer = id;
    run.status->offset = address - region->pointer;
    switch (serve_demand(*region, address, write)) {
      case Demand::kServed:
        run.status->buffer = TM_NO_BUFFER;
        run.status->offset = 0;
        run.status->address = 0;
        run.status->write = 0;
        if (region->traced && !begin_step(context, (uint8_t *)((uint64_t)address & ~(kPage - 1))))
          stop(TM_TRAP, "an instruction touches too many pages");
        return;
      case Demand::kOverCap: stop(TM_DEMAND_LIMIT, "more memory touched than allowed");
      case Demand::kOutside: stop(TM_OUT_OF_BOUNDS, "outside a buffer");
    }
  }
  if (shared_region().contains(address)) {
    run.status->buffer = TM_SHARED_MEMORY;
    run.status->offset = address - shared_region().pointer;
    stop(TM_OUT_OF_BOUNDS, "outside shared memory");
  }
  if (in_fiber_guard(address)) stop(TM_STACK_OVERFLOW, "local memory of a thread exhausted");
  stop(TM_WILD_ACCESS, "outside every known region");
}

void on_signal(int number, siginfo_t *info, void *raw) {
  ucontext_t *context = (ucontext_t *)raw;
  if (!run.active) {
    signal(number, SIG_DFL);
    return;
  }
  switch (number) {
    case SIGSEGV:
    case SIGBUS: handle_fault((uint8_t *)info->si_addr, context); return;
    case SIGFPE:
      if (emulate_trapped_division(context)) return;
      stop(TM_TRAP, "arithmetic trap");
    case SIGTRAP:
      if (handle_step(context)) return;
      stop(TM_TRAP, "breakpoint");
    case SIGABRT: stop(TM_TRAP, "abort");
    default: stop(TM_TRAP, "trap");
  }
}

void on_timer(int, siginfo_t *, void *) {
  if (!run.active) return;
  if (run.busy) {
    run.expired = true;
    return;
  }
  stop(TM_TIMEOUT, "CPU time limit");
}

struct Timer {
  timer_t id{};
  bool made = false;
  bool start(uint32_t milliseconds) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timer_signal();
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &id) != 0) return false;
    made = true;
    itimerspec when{};
    when.it_value.tv_sec = milliseconds / 1000;
    when.it_value.tv_nsec = (long)(milliseconds % 1000) * 1000000;
    return timer_settime(id, 0, &when, nullptr) == 0;
  }
  void stop() {
    if (made) timer_delete(id);
    made = false;
  }
};

}  // namespace

void fail(int32_t kind, const char *detail) { stop(kind, detail); }

int32_t guarded(void (*body)(void *), void *context, tm_arena *arena, const tm_options *options,
                tm_status *status) {
  static void *alternate = nullptr;
  memset(status, 0, sizeof *status);
  status->buffer = TM_NO_BUFFER;
  status->kind = TM_BAD_ARGUMENT;
  if (!alternate) {
    void *got = mmap(nullptr, kAlternateStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return status->kind;
    alternate = got;
  }
  stack_t mine{}, previous_stack{};
  mine.ss_sp = alternate;
  mine.ss_size = kAlternateStack;
  sigaltstack(&mine, &previous_stack);
  struct sigaction action{}, previous[kSignalCount], previous_timer;
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &action, &previous[i]);
  action.sa_sigaction = on_timer;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(timer_signal(), &action, &previous_timer);

  static Timer timer;  // survives siglongjmp
  run.arena = arena;
  run.status = status;
  run.busy = run.expired = false;
  stepped_count = 0;
  if (sigsetjmp(run.escape, 1) == 0) {
    run.active = true;
    if (options->time_limit_ms && !timer.start(options->time_limit_ms)) {
      run.active = false;
    } else {
      status->kind = TM_OK;
      body(context);
      run.active = false;
    }
  }
  run.active = false;
  timer.stop();
  end_step();
  for (int i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &previous[i], nullptr);
  sigaction(timer_signal(), &previous_timer, nullptr);
  sigaltstack(&previous_stack, nullptr);
  return status->kind;
}

}  // namespace tile_migrate
