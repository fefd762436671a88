// Decoding of the x86 integer divisions that trap, so that they can be given a value instead.
#ifndef TM_DIVIDE_H
#define TM_DIVIDE_H

#include <stdint.h>

namespace tile_migrate {

// General registers in encoding order (rax rcx rdx rbx rsp rbp rsi rdi r8 … r15) and the address of
// the instruction.
struct Registers {
  uint64_t general[16];
  uint64_t ip;
};

// A decoded div or idiv.
struct Division {
  int bits = 0;           // operand width: 8, 16, 32, 64
  bool is_signed = false;
  int length = 0;         // of the instruction, in bytes
  bool in_memory = false;
  uint64_t address = 0;   // of the divisor, where in memory
  int reg = 0;            // its register number otherwise
  bool high_byte = false; // ah ch dh bh
};

// Decodes the instruction at `code`; false if it is no div or idiv, or has a segment override.
bool decode_division(const uint8_t *code, const Registers &registers, Division *out);

// Performs the division as a GPU does where the CPU traps: quotient of x / 0 is all ones and the
// remainder x; the most negative number / -1 is itself with remainder 0. Advances ip.
// False if the operands are none of these (no C expression yields that).
bool emulate_division(const Division &division, Registers *registers);

// For a SIGFPE handler: gives the division at which `context` (ucontext_t) stands its value and steps
// over it. False if it stands at none; always off x86-64.
bool emulate_trapped_division(void *context);

}  // namespace tile_migrate

#endif
