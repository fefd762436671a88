// Warp operations: lanes meet, exchange, and go on together.
#include <string.h>

#include "block.h"
#include "race.h"

namespace tile_migrate {

namespace {

Thread *lane_of(uint32_t warp, uint32_t lane) {
  uint32_t flat = warp * kWarp + lane;
  return flat < block().count ? &block().threads[flat] : nullptr;
}

// A value that no lane supplied: the poison byte repeated.
uint64_t undefined_value() {
  ++block().status->undefined_lanes;
  return block().poison * 0x0101010101010101ULL;
}

// The lane that a shuffle reads, as the hardware computes it.
uint32_t source_lane(const Thread &self, uint32_t lane, bool *in_range) {
  uint32_t width = (uint32_t)self.width, base = lane & ~(width - 1), operand = self.operand & 31u;
  *in_range = true;
  switch (self.kind) {
    case 0: return base | (operand & (width - 1));
    case 1:
      if (lane >= base + operand) return lane - operand;
      break;
    case 2:
      if (lane + operand < base + width) return lane + operand;
      break;
    default:
      if ((lane ^ operand) < base + width) return lane ^ operand;
  }
  *in_range = false;
  return lane;
}

uint64_t reduce(Thread **group, uint32_t size, int kind, bool is_signed) {
  uint32_t total = (uint32_t)group[0]->value;
  for (uint32_t i = 1; i < size; ++i) {
    uint32_t value = (uint32_t)group[i]->value;
    bool less = is_signed ? (int32_t)value < (int32_t)total : value < total;
    switch (kind) {
      case 0: total += value; break;
      case 1: total = less ? value : total; break;
      case 2: total = less ? total : value; break;
      case 3: total &= value; break;
      case 4: total |= value; break;
      default: total ^= value;
    }
  }
  return total;
}

// Computes every member's result; the members are alive and wait at the same operation.
void exchange(Thread **group, uint32_t size, uint32_t warp) {
  uint32_t members = 0;
  for (uint32_t i = 0; i < size; ++i) members |= 1u << (group[i]->flat % kWarp);
  for (uint32_t i = 0; i < size; ++i) {
    Thread *self = group[i];
    uint32_t lane = self->flat % kWarp;
    switch (self->op) {
      case WarpOp::kSync: break;
      case WarpOp::kActive: self->result = members; break;
      case WarpOp::kReduce: self->result = reduce(group, size, self->kind, self->is_signed); break;
      case WarpOp::kShuffle: {
        uint32_t source = source_lane(*self, lane, &self->valid);
        self->result = (members >> source & 1u) ? lane_of(warp, source)->value : undefined_value();
        break;
      }
      case WarpOp::kBallot: {
        uint32_t bits = 0;
        for (uint32_t j = 0; j < size; ++j)
          bits |= (uint32_t)(group[j]->predicate != 0) << (group[j]->flat % kWarp);
        self->result = bits;
        break;
      }
      case WarpOp::kMatchAny:
      case WarpOp::kMatchAll: {
        uint32_t equal = 0;
        for (uint32_t j = 0; j < size; ++j)
          if (group[j]->value == self->value) equal |= 1u << (group[j]->flat % kWarp);
        self->valid = equal == members;
        self->result = self->op == WarpOp::kMatchAny ? equal : self->valid ? members : 0;
        break;
      }
    }
  }
  // Of the warp operations only __syncwarp orders memory.
  if (race_on && group[0]->op == WarpOp::kSync) race_warp(group, size);
  block().at_warp -= size;
  block().warps[warp].waiting &= ~members;
  release_group(group, size);
}

// Completes the group that `mask` names if all its live lanes have arrived.
void complete_group(uint32_t warp, const Thread &first) {
  const Warp &lanes = block().warps[warp];
  uint32_t members = first.mask & lanes.alive;
  if (members & ~lanes.waiting) return;
  Thread *group[kWarp];
  uint32_t size = 0;
  for (; members; members &= members - 1) {
    Thread *thread = lane_of(warp, (uint32_t)__builtin_ctz(members));
    if (thread->mask != first.mask || thread->op != first.op || thread->kind != first.kind) return;
    group[size++] = thread;
  }
  exchange(group, size, warp);
}

uint64_t arrive(WarpOp op, unsigned mask) {
  Thread *self = current_thread();
  if (race_on) race_settle();
  self->op = op;
  self->mask = mask;
  if (op != WarpOp::kActive && !(mask >> (self->flat % kWarp) & 1u))
    fail(TM_BAD_WARP_OPERATION, "the calling lane is not in its own mask");
  self->state = State::kAtWarp;
  ++block().at_warp;
  if (op != WarpOp::kActive) {
    block().warps[self->flat / kWarp].waiting |= 1u << self->flat % kWarp;
    complete_group(self->flat / kWarp, *self);
  }
  suspend();
  return self->result;
}

}  // namespace

void complete_warp_groups(uint32_t warp) {
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    Thread *thread = lane_of(warp, lane);
    if (!thread) return;
    if (thread->state == State::kAtWarp && thread->op != WarpOp::kActive) complete_group(warp, *thread);
  }
}

bool resolve_active_masks() {
  bool any = false;
  for (uint32_t warp = 0; warp * kWarp < block().count; ++warp) {
    Thread *group[kWarp];
    uint32_t size = 0;
    for (uint32_t lane = 0; lane < kWarp; ++lane) {
      Thread *thread = lane_of(warp, lane);
      if (thread && thread->state == State::kAtWarp && thread->op == WarpOp::kActive)
        group[size++] = thread;
    }
    if (!size) continue;
    exchange(group, size, warp);
    any = true;
  }
  return any;
}

}  // namespace tile_migrate

using tile_migrate::block;
using tile_migrate::WarpOp;

extern "C" {
#pragma GCC visibility push(default)

void tm_sync_warp(unsigned mask) {
  tile_migrate::current_thread()->kind = 0;
  tile_migrate::arrive(WarpOp::kSync, mask);
}

unsigned long long tm_shuffle(unsigned mask, unsigned long long value, int kind, unsigned operand,
                              int width, int *valid) {
  if (width <= 0 || width > 32 || (width & (width - 1)))
    tile_migrate::fail(TM_BAD_WARP_OPERATION, "a shuffle width that is no power of two up to 32");
  tile_migrate::Thread *self = tile_migrate::current_thread();
  self->value = value;
  self->kind = (uint8_t)kind;
  self->operand = operand;
  self->width = width;
  uint64_t result = tile_migrate::arrive(WarpOp::kShuffle, mask);
  if (valid) *valid = self->valid;
  return result;
}

unsigned tm_ballot(unsigned mask, int predicate) {
  tile_migrate::current_thread()->predicate = predicate;
  tile_migrate::current_thread()->kind = 0;
  return (unsigned)tile_migrate::arrive(WarpOp::kBallot, mask);
}

unsigned tm_match_any(unsigned mask, unsigned long long value) {
  tile_migrate::current_thread()->value = value;
  tile_migrate::current_thread()->kind = 0;
  return (unsigned)tile_migrate::arrive(WarpOp::kMatchAny, mask);
}

unsigned tm_match_all(unsigned mask, unsigned long long value, int *predicate) {
  tile_migrate::Thread *self = tile_migrate::current_thread();
  self->value = value;
  self->kind = 0;
  unsigned result = (unsigned)tile_migrate::arrive(WarpOp::kMatchAll, mask);
  if (predicate) *predicate = self->valid;
  return result;
}

unsigned tm_reduce(unsigned mask, unsigned value, int kind, int is_signed) {
  tile_migrate::Thread *self = tile_migrate::current_thread();
  self->value = value;
  self->kind = (uint8_t)kind;
  self->is_signed = is_signed != 0;
  return (unsigned)tile_migrate::arrive(WarpOp::kReduce, mask);
}

unsigned tm_active_mask(void) {
  tile_migrate::current_thread()->kind = 0;
  return (unsigned)tile_migrate::arrive(WarpOp::kActive, 0xffffffffu);
}

unsigned tm_lane_id(void) {
  const tile_migrate::Index &at = tile_migrate::thread_index, &size = tile_migrate::block_dimensions;
  return ((at.z * size.y + at.y) * size.x + at.x) % tile_migrate::kWarp;
}

#pragma GCC visibility pop
}  // extern "C"
