// What the executor's parts share. State is per process: one OS thread runs at a time.
#ifndef TM_INTERNAL_H
#define TM_INTERNAL_H

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "block.h"

namespace tile_migrate {

inline uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Address space with an accessible (or demand-mapped) window between two inaccessible zones.
struct Region {
  uint8_t *mapping = nullptr;
  uint64_t mapping_bytes = 0;
  uint8_t *window = nullptr;
  uint64_t window_bytes = 0;
  uint8_t *pointer = nullptr;
  bool demand = false;
  bool traced = false;
  tm_fill fill{};
  uint64_t cap = 0;
  uint64_t mapped = 0;
  std::vector<uint8_t> pages;  // demand: 0 absent, 1 filled
  int64_t read_low = 0, read_high = 0, write_low = 0, write_high = 0;

  bool reserve(uint64_t bytes);
  void release();
  bool contains(const uint8_t *address) const {
    return address >= mapping && address < mapping + mapping_bytes;
  }
  void record(int64_t low, int64_t high, bool write);
};

// Outcome of handing a fault to demand paging.
enum class Demand { kServed, kOutside, kOverCap };
Demand serve_demand(Region &region, uint8_t *address, bool write);
// Makes a traced page inaccessible again after the access was stepped over.
void protect_page(uint8_t *page);

// The guarded run: faults, traps and the time limit come back as a status.
struct Run {
  bool active = false;
  volatile bool busy = false;      // inside a library call that must not be abandoned
  volatile bool expired = false;   // the limit passed while busy
  sigjmp_buf escape;
  tm_arena *arena = nullptr;
  tm_status *status = nullptr;
};
extern Run run;

// Runs body(context) under the guards; returns the status kind.
int32_t guarded(void (*body)(void *), void *context, tm_arena *arena, const tm_options *options,
                tm_status *status);

std::vector<Region> &arena_regions(tm_arena *arena);
Region *find_region(tm_arena *arena, const uint8_t *address, int32_t *id);
const Region &shared_region();
bool in_fiber_guard(const uint8_t *address);
void describe_position(tm_status *status);
const uint32_t *current_block_index();

}  // namespace tile_migrate

#endif
