// Decoding and emulation of trapping integer divisions (x86-64).
#include "divide.h"

#include <string.h>
#include <ucontext.h>

namespace tile_migrate {

namespace {

// The memory operand of a ModRM byte at code[0]; returns its length in bytes (ModRM, SIB, displacement).
// `tail` bytes of immediate follow (rip-relative operands count from the instruction's end).
int effective_address(const uint8_t *code, int rex, int before, const Registers &r, uint64_t *address) {
  int mod = code[0] >> 6, rm = code[0] & 7, length = 1;
  uint64_t base = 0;
  if (rm == 4) {
    uint8_t sib = code[length++];
    int index = ((sib >> 3) & 7) | ((rex & 2) << 2), base_register = (sib & 7) | ((rex & 1) << 3);
    if (index != 4) base += r.general[index] << (sib >> 6);
    if ((sib & 7) == 5 && mod == 0) {
      int32_t displacement;
      memcpy(&displacement, code + length, 4);
      *address = base + (int64_t)displacement;
      return length + 4;
    }
    base += r.general[base_register];
  } else if (rm == 5 && mod == 0) {
    int32_t displacement;
    memcpy(&displacement, code + length, 4);
    *address = r.ip + before + length + 4 + (int64_t)displacement;
    return length + 4;
  } else {
    base = r.general[rm | ((rex & 1) << 3)];
  }
  if (mod == 1) {
    base += (int64_t)(int8_t)code[length++];
  } else if (mod == 2) {
    int32_t displacement;
    memcpy(&displacement, code + length, 4);
    base += (int64_t)displacement;
    length += 4;
  }
  *address = base;
  return length;
}

uint64_t low_bits(uint64_t value, int bits) {
  return bits == 64 ? value : value & ((1ULL << bits) - 1);
}

// Writes a register as the hardware does: 32-bit results clear the upper half, narrower ones keep it.
void write_register(uint64_t *reg, uint64_t value, int bits) {
  if (bits == 64) *reg = value;
  else if (bits == 32) *reg = low_bits(value, 32);
  else *reg = (*reg & ~((1ULL << bits) - 1)) | low_bits(value, bits);
}

}  // namespace

bool decode_division(const uint8_t *code, const Registers &registers, Division *out) {
  int at = 0, rex = 0;
  bool narrow = false;
  for (;; ++at) {
    uint8_t byte = code[at];
    if (byte == 0x66) narrow = true;
    else if (byte != 0xf2 && byte != 0xf3 && byte != 0x2e && byte != 0x3e) break;
  }
  if ((code[at] & 0xf0) == 0x40) rex = code[at++];
  uint8_t opcode = code[at++];
  if (opcode != 0xf6 && opcode != 0xf7) return false;
  int operation = (code[at] >> 3) & 7;
  if (operation != 6 && operation != 7) return false;
  out->is_signed = operation == 7;
  out->bits = opcode == 0xf6 ? 8 : (rex & 8) ? 64 : narrow ? 16 : 32;
  if ((code[at] >> 6) == 3) {
    int rm = code[at] & 7;
    out->in_memory = false;
    out->high_byte = out->bits == 8 && !rex && rm >= 4;
    out->reg = out->high_byte ? rm - 4 : rm | ((rex & 1) << 3);
    out->length = at + 1;
    return true;
  }
  out->in_memory = true;
  out->high_byte = false;
  out->length = at + effective_address(code + at, rex, at, registers, &out->address);
  return true;
}

bool emulate_division(const Division &d, Registers *r) {
  uint64_t divisor = 0;
  if (d.in_memory) memcpy(&divisor, (const void *)d.address, d.bits / 8);
  else divisor = d.high_byte ? (r->general[d.reg] >> 8) & 0xff : low_bits(r->general[d.reg], d.bits);
  uint64_t &rax = r->general[0], &rdx = r->general[2];
  uint64_t dividend = low_bits(rax, d.bits), quotient, remainder;
  uint64_t minimum = 1ULL << (d.bits - 1), ones = low_bits(~0ULL, d.bits);
  if (divisor == 0) {
    quotient = ones;
    remainder = dividend;
  } else if (d.is_signed && divisor == ones && dividend == minimum) {
    quotient = minimum;
    remainder = 0;
  } else {
    return false;
  }
  if (d.bits == 8) {
    rax = (rax & ~0xffffULL) | (remainder << 8) | quotient;
  } else {
    write_register(&rax, quotient, d.bits);
    write_register(&rdx, remainder, d.bits);
  }
  r->ip += d.length;
  return true;
}

#ifdef __x86_64__
bool emulate_trapped_division(void *context) {
  constexpr int kGeneral[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
  Registers registers;
  for (int i = 0; i < 16; ++i) registers.general[i] = (uint64_t)gregs[kGeneral[i]];
  registers.ip = (uint64_t)gregs[REG_RIP];
  Division division;
  if (!decode_division((const uint8_t *)registers.ip, registers, &division)) return false;
  if (!emulate_division(division, &registers)) return false;
  for (int i = 0; i < 16; ++i) gregs[kGeneral[i]] = (greg_t)registers.general[i];
  gregs[REG_RIP] = (greg_t)registers.ip;
  return true;
}
#else
bool emulate_trapped_division(void *) { return false; }
#endif

}  // namespace tile_migrate
