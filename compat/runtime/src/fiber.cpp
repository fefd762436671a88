// The context switch: callee-saved registers and the stack pointer; ucontext where not x86-64.
#include "fiber.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tile_migrate {

bool Fiber::map(uint64_t stack_bytes) {
  bytes = stack_bytes;
  void *got = mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (got == MAP_FAILED) return false;
  mapping = (uint8_t *)got;
  return mprotect(mapping, kGuardBytes, PROT_NONE) == 0;
}

void Fiber::forget_frames() {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(low(), bytes);
#endif
}

void Fiber::unmap() {
#ifdef __SANITIZE_THREAD__
  if (thread_sanitizer) __tsan_destroy_fiber(thread_sanitizer);
  thread_sanitizer = nullptr;
#endif
  if (mapping) {
    forget_frames();  // what is mapped there next is not ours
    munmap(mapping, bytes + kGuardBytes);
  }
  mapping = nullptr;
}

namespace {

// What the sanitizers must know of a fiber whose frames are all gone.
void renew(Fiber *fiber) {
  (void)fiber;
#ifdef __SANITIZE_THREAD__
  if (fiber->thread_sanitizer) __tsan_destroy_fiber(fiber->thread_sanitizer);
  fiber->thread_sanitizer = __tsan_create_fiber(0);
#endif
#ifdef __SANITIZE_ADDRESS__
  fiber->fake_stack = nullptr;
  fiber->bottom = fiber->low();
  fiber->stack_bytes = fiber->bytes;
  fiber->forget_frames();
#endif
}

__attribute__((no_sanitize("thread"), no_sanitize("address"))) void before_switch(Fiber *from, Fiber *to) {
  (void)from, (void)to;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(to->thread_sanitizer, 0);
#endif
}

__attribute__((no_sanitize("thread"), no_sanitize("address"))) void after_switch(Fiber *from) {
  (void)from;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

}  // namespace

void entered_fiber() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

void enter_fibers(Fiber *fiber) {
  (void)fiber;
#ifdef __SANITIZE_THREAD__
  fiber->thread_sanitizer = __tsan_get_current_fiber();
#endif
#ifdef __SANITIZE_ADDRESS__
  if (fiber->bottom) return;
  pthread_attr_t attributes;
  void *low = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &low, &fiber->stack_bytes);
  pthread_attr_destroy(&attributes);
  fiber->bottom = low;
#endif
}

#ifdef __x86_64__

extern "C" void tm_switch_stack(void **save, void *load);
__asm__(R"(
.text
.hidden tm_switch_stack
.globl tm_switch_stack
.type tm_switch_stack, @function
tm_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size tm_switch_stack, .-tm_switch_stack
)");

void Fiber::lay_out(void (*entry)()) {
  // Stacks of equal alignment would share cache sets: stagger their tops.
  uint64_t stagger = ((uint64_t)mapping / (bytes + kGuardBytes)) % 32 * 128;
  void **top = (void **)(low() + bytes - stagger - 64);
  *--top = nullptr;  // return address of entry; leaves rsp 8 off a multiple of 16, as after a call
  *--top = (void *)entry;
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  stack_pointer = top;
}

__attribute__((no_sanitize("thread"), no_sanitize("address"))) void switch_fiber(Fiber *from, Fiber *to) {
  before_switch(from, to);
  tm_switch_stack(&from->stack_pointer, to->stack_pointer);
  after_switch(from);
}

#else

void Fiber::lay_out(void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = low();
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

__attribute__((no_sanitize("thread"), no_sanitize("address"))) void switch_fiber(Fiber *from, Fiber *to) {
  before_switch(from, to);
  swapcontext(&from->context, &to->context);
  after_switch(from);
}

#endif

void Fiber::prepare(void (*entry)()) {
  lay_out(entry);
  renew(this);
}

__attribute__((no_sanitize("thread"), no_sanitize("address"))) void Fiber::restart(void (*entry)()) {
  forget_frames();
  lay_out(entry);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(nullptr, bottom, stack_bytes);
#endif
#ifdef __x86_64__
  void *dead;
  tm_switch_stack(&dead, stack_pointer);
#else
  setcontext(&context);
#endif
  __builtin_unreachable();
}

}  // namespace tile_migrate
