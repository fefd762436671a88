// The context switch: callee-saved registers and the stack pointer; ucontext where not x86-64.
#include "fiber.h"

#include "internal.h"

namespace tile_migrate {

bool Fiber::map(uint64_t stack_bytes) {
  bytes = stack_bytes;
  void *got = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (got == MAP_FAILED) return false;
  mapping = (uint8_t *)got;
  return mprotect(mapping, kPage, PROT_NONE) == 0;
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

void Fiber::prepare(void (*entry)()) {
  // Stacks of equal alignment would share cache sets: stagger their tops.
  uint64_t stagger = ((uint64_t)mapping / (bytes + kPage)) % 32 * 128;
  void **top = (void **)(mapping + kPage + bytes - stagger - 64);
  *--top = nullptr;  // return address of entry; leaves rsp 8 off a multiple of 16, as after a call
  *--top = (void *)entry;
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  stack_pointer = top;
}

void switch_fiber(Fiber *from, Fiber *to) { tm_switch_stack(&from->stack_pointer, to->stack_pointer); }

#else

void Fiber::prepare(void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = mapping + kPage;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

void switch_fiber(Fiber *from, Fiber *to) { swapcontext(&from->context, &to->context); }

#endif

}  // namespace tile_migrate
