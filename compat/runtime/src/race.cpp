// The race detector: happens-before by barriers, warp synchronisation, and fenced atomics.
//
// Every word (or byte, once a page sees narrower accesses) remembers two writes and two reads:
// enough to find a race of the location, not to list all. A store of the value that is already
// there changes nothing and conflicts with changing stores only: threads that store one value agree.
// What no hook announces (memcpy of many bytes, inline assembly) is not seen.
#include "race.h"

#include "internal.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <unordered_map>

namespace tile_migrate {

bool race_on = false;

namespace {

constexpr uint64_t kPoolBytes = 1ULL << 36;
constexpr uint32_t kLastClock = 0xf0000000u;
constexpr uint32_t kAtomic = 1u << 10;
constexpr uint32_t kSame = 1u << 11;
constexpr uint32_t kPlaceShift = 12;
constexpr uint32_t kPlaceBias = 1u << 19;

// who: thread of the block (10 bits), kAtomic, kSame for a store that changed nothing, and where in
// the code relative to the entry (20 bits).
// Clocks only grow, over threads, blocks and launches: what is older than a launch is forgotten.
struct Access {
  uint32_t clock, who;
  uint32_t thread() const { return who & 1023u; }
  bool atomic() const { return who & kAtomic; }
};
struct Cell {
  Access write[2], read[2];
};
struct Range {
  uint8_t *low, *high, *first_page;
  Cell *cells;                  // room for one for each byte; a page of words uses the first quarter
  std::vector<uint32_t> bytes;  // by page: the launch in which it went over to bytes
  bool shared;
  uint32_t floor;  // accesses before this clock are of no interest
};
struct Start {
  uint32_t clock, index[3];
};
// The accesses of its thread up to `clock` and those of its block before `barrier` are visible to
// whoever sees a later atomic operation of the thread. No fence: clock 0.
struct Fence {
  uint32_t clock, barrier;
};
// What an atomic operation at `clock` published.
struct Release {
  uint32_t block, thread, clock;
  Fence fence;
};
struct Acquire {
  uint32_t thread, clock;
  const std::vector<Release> *released;
  size_t count;
};
enum class Kind { kRead, kSilent, kWrite };

Cell *pool;
size_t pool_used;
std::vector<Range> ranges;
size_t range_count;
Range *last_range;
std::vector<Start> starts;
std::unordered_map<uint64_t, std::vector<Release>> releases;
std::vector<Acquire> acquired;
const uint8_t *base;
uint32_t now = 1, launch_number, block_clock, barrier_clock;
uint32_t own_clock[1024], seen[1024][kWarp];
Fence fences[1024];

struct Pending {
  uint8_t *address;
  uint32_t size;  // 0: none
  uint32_t place;
  uint8_t old[64];
} pending;

uint32_t clock_of(uint32_t thread) { return std::max(own_clock[thread], barrier_clock); }

uint32_t place_of(const void *code) {
  int64_t distance = (const uint8_t *)code - base;
  bool near = distance > -(int64_t)kPlaceBias && distance < (int64_t)kPlaceBias;
  return near ? (uint32_t)(distance + kPlaceBias) : 0;
}
uint64_t code_of(uint32_t place) { return place ? (uint64_t)(base + (int64_t)place - kPlaceBias) : 0; }

uint32_t block_of(uint32_t clock) {
  auto after = std::upper_bound(starts.begin(), starts.end(), clock,
                                [](uint32_t c, const Start &s) { return c < s.clock; });
  return (uint32_t)(after - starts.begin()) - 1;
}

bool acquired_from(const Access &earlier, uint32_t self) {
  if (acquired.empty()) return false;
  uint32_t number = block_of(earlier.clock);
  for (const Acquire &a : acquired) {
    if (a.thread != self && a.clock >= barrier_clock) continue;
    auto end = a.released->begin() + (ptrdiff_t)a.count;
    auto at = std::lower_bound(a.released->begin(), end, number,
                               [](const Release &r, uint32_t n) { return r.block < n; });
    for (; at != end && at->block == number; ++at) {
      if (earlier.clock < at->fence.barrier) return true;
      if (earlier.thread() != at->thread) continue;
      if (earlier.clock <= (earlier.atomic() ? at->clock : at->fence.clock)) return true;
    }
  }
  return false;
}

// Whether the earlier access happens before whatever `self` does now.
bool ordered(const Access &earlier, uint32_t self) {
  if (earlier.clock < block_clock) return acquired_from(earlier, self);
  uint32_t thread = earlier.thread();
  if (thread == self || earlier.clock < barrier_clock) return true;
  return thread / kWarp == self / kWarp && seen[self][thread % kWarp] >= earlier.clock;
}

[[noreturn]] void report(const Access &earlier, bool earlier_write, bool write, bool atomic,
                         uint32_t place, uint8_t *address, const Range &range) {
  tm_status *status = block().status;
  int32_t id = TM_NO_BUFFER;
  if (range.shared) {
    status->buffer = TM_SHARED_MEMORY;
    status->offset = address - shared_region().pointer;
  } else if (Region *region = find_region(run.arena, address, &id)) {
    status->buffer = id;
    status->offset = address - region->pointer;
  }
  status->address = (uint64_t)address;
  status->write = write;
  status->atomic = atomic;
  status->code = code_of(place);
  status->other_write = earlier_write;
  status->other_atomic = earlier.atomic();
  status->other_code = code_of(earlier.who >> kPlaceShift);
  memcpy(status->other_block, starts[block_of(earlier.clock)].index, sizeof status->other_block);
  memcpy(status->other_thread, block().threads[earlier.thread()].index, sizeof status->other_thread);
  pending.size = 0;
  fail(TM_DATA_RACE, "data race");
}

bool recorded(const Access (&slots)[2], const Access &access) {
  for (const Access &slot : slots)
    if (slot.clock == access.clock && !((slot.who ^ access.who) & (2 * kSame - 1))) return true;
  return false;
}

// Forgets an access that the new one follows anyway. Of several unordered ones the first stays and
// another; two warps of this block are kept, as only a barrier orders both before anything.
void record(Access (&slots)[2], const Access &access, uint32_t floor, uint32_t self) {
  for (Access &slot : slots)
    if (slot.clock < floor || ordered(slot, self)) {
      slot = access;
      return;
    }
  bool two_warps = slots[0].clock >= block_clock && slots[1].clock >= block_clock &&
                   slots[0].thread() / kWarp != slots[1].thread() / kWarp;
  if (!two_warps) slots[1] = access;
}

void visit(Range &range, Cell &cell, Kind kind, bool atomic, uint32_t place, uint8_t *address) {
  uint32_t self = block().current->flat;
  Access access{clock_of(self), self | (atomic ? kAtomic : 0) |
                                    (kind == Kind::kSilent ? kSame : 0) | place << kPlaceShift};
  if (kind != Kind::kWrite && recorded(cell.read, access)) return;
  bool write = kind == Kind::kWrite;
  if (kind != Kind::kSilent)
    for (const Access &slot : cell.write)
      if (slot.clock >= range.floor && !(atomic && slot.atomic()) && !ordered(slot, self))
        report(slot, true, write, atomic, place, address, range);
  if (write)
    for (const Access &slot : cell.read)
      if (slot.clock >= range.floor && !(atomic && slot.atomic()) && !ordered(slot, self))
        report(slot, false, write, atomic, place, address, range);
  record(write ? cell.write : cell.read, access, range.floor, self);
}

Range *range_of(const uint8_t *address) {
  if (last_range && address >= last_range->low && address < last_range->high) return last_range;
  for (size_t i = 0; i < range_count; ++i)
    if (address >= ranges[i].low && address < ranges[i].high) return last_range = &ranges[i];
  return nullptr;
}

// `old` are the bytes before a store, or null for a read.
void access(uint8_t *address, uint32_t size, bool atomic, uint32_t place, const uint8_t *old, bool write) {
  Range *range = range_of(address);
  if (!range) return;
  for (uint32_t done = 0; done < size && address + done < range->high;) {
    uint8_t *at = address + done;
    uint64_t page = (uint64_t)(at - range->first_page) / kPage;
    Cell *cells = range->cells + page * kPage;
    uint64_t inside = (uint64_t)at % kPage;
    uint32_t left = size - done;
    if (range->bytes[page] != launch_number && (left < 4 || inside % 4)) {
      for (uint64_t byte = kPage; byte-- > 0;) cells[byte] = cells[byte / 4];
      range->bytes[page] = launch_number;
    }
    bool narrow = range->bytes[page] == launch_number;
    uint32_t step = narrow ? 1 : 4;
    Kind kind = !write ? Kind::kRead : old && !memcmp(old + done, at, step) ? Kind::kSilent : Kind::kWrite;
    if (atomic && kind == Kind::kSilent) kind = Kind::kRead;
    visit(*range, cells[narrow ? inside : inside / 4], kind, atomic, place, at);
    done += step;
  }
}

void settle() {
  if (!pending.size) return;
  uint32_t size = pending.size;
  pending.size = 0;
  access(pending.address, size, false, pending.place, size <= sizeof pending.old ? pending.old : nullptr, true);
}

// Thread stacks are private: everything at most a stack above this frame.
bool on_stack(const void *address) {
  return (uint64_t)address - (uint64_t)__builtin_frame_address(0) < kStackBytes;
}

void reading(void *address, uint32_t size, const void *code) {
  if (on_stack(address) || !range_of((uint8_t *)address)) return;
  settle();
  access((uint8_t *)address, size, false, place_of(code), nullptr, false);
}

void writing(void *address, uint32_t size, const void *code) {
  if (on_stack(address) || !range_of((uint8_t *)address)) return;
  settle();
  pending.address = (uint8_t *)address;
  pending.place = place_of(code);
  if (size <= sizeof pending.old) memcpy(pending.old, address, size);
  pending.size = size;
}

// Publishes before a fenced atomic operation, and takes up what others published.
void synchronise(uint8_t *address) {
  uint32_t self = block().current->flat;
  auto found = releases.find((uint64_t)address);
  if (found == releases.end() && !fences[self].clock) return;
  run.busy = true;
  std::vector<Release> &list = found == releases.end() ? releases[(uint64_t)address] : found->second;
  if (!list.empty()) acquired.push_back(Acquire{self, clock_of(self), &list, list.size()});
  if (fences[self].clock) {
    list.push_back(Release{(uint32_t)starts.size() - 1, self, clock_of(self), fences[self]});
    own_clock[self] = ++now;
  }
  run.busy = false;
  if (run.expired) fail(TM_TIMEOUT, "CPU time limit");
}

template <class T>
void atomic_access(T *address, const T &before, bool write, const void *code) {
  access((uint8_t *)address, sizeof(T), true, place_of(code), (const uint8_t *)&before, write);
  if (write) synchronise((uint8_t *)address);
}

bool add_range(uint8_t *low, uint64_t size, bool shared) {
  if (!size) return true;
  if (range_count == ranges.size()) ranges.emplace_back();
  Range &range = ranges[range_count++];
  range.low = low;
  range.high = low + size;
  range.first_page = (uint8_t *)((uint64_t)low & ~(kPage - 1));
  range.shared = shared;
  range.cells = pool + pool_used;
  uint64_t pages = round_up((uint64_t)(range.high - range.first_page), kPage) / kPage;
  range.bytes.assign(pages, 0);
  pool_used += pages * kPage;
  return pool_used <= kPoolBytes / sizeof(Cell);
}

}  // namespace

bool race_begin(const tm_options *options, tm_arena *arena, uint8_t *shared, uint64_t shared_bytes,
                const void *entry) {
  if (!pool) {
    void *got = mmap(nullptr, kPoolBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) return false;
    pool = (Cell *)got;
  }
  if (now > kLastClock || launch_number == ~0u) {
    madvise(pool, kPoolBytes, MADV_DONTNEED);
    memset(own_clock, 0, sizeof own_clock);
    memset(seen, 0, sizeof seen);
    now = 1;
    launch_number = 0;
  }
  ++launch_number;
  pool_used = range_count = 0;
  last_range = nullptr;
  starts.clear();
  releases.clear();
  acquired.clear();
  pending.size = 0;
  base = (const uint8_t *)entry;
  bool fits = add_range(shared, shared_bytes, true);
  for (Region &region : arena_regions(arena)) fits = fits && add_range(region.window, region.window_bytes, false);
  for (uint32_t i = 0; i < options->watched_count; ++i)
    fits = fits && add_range((uint8_t *)options->watched[2 * i], options->watched[2 * i + 1], false);
  ++now;
  for (size_t i = 0; i < range_count; ++i) ranges[i].floor = now;
  race_on = fits;
  return fits;
}

void race_end() { race_on = false; }

void race_block() {
  const uint32_t *index = current_block_index();
  block_clock = barrier_clock = ++now;
  run.busy = true;
  starts.push_back(Start{now, {index[0], index[1], index[2]}});
  run.busy = false;
  if (run.expired) fail(TM_TIMEOUT, "CPU time limit");
  acquired.clear();
  memset(fences, 0, sizeof fences);
  pending.size = 0;
  if (range_count && ranges[0].shared) ranges[0].floor = now;
}

void race_barrier() { barrier_clock = ++now; }

void race_warp(Thread **group, uint32_t size) {
  uint32_t joined[kWarp] = {};
  for (uint32_t i = 0; i < size; ++i) {
    uint32_t thread = group[i]->flat;
    for (uint32_t lane = 0; lane < kWarp; ++lane) joined[lane] = std::max(joined[lane], seen[thread][lane]);
  }
  for (uint32_t i = 0; i < size; ++i) {
    uint32_t thread = group[i]->flat;
    joined[thread % kWarp] = std::max(joined[thread % kWarp], clock_of(thread));
  }
  ++now;
  for (uint32_t i = 0; i < size; ++i) {
    memcpy(seen[group[i]->flat], joined, sizeof joined);
    own_clock[group[i]->flat] = now;
  }
}

void race_settle() { settle(); }

}  // namespace tile_migrate

using namespace tile_migrate;

// The hooks. They cost a test of a flag where no run asks for races.
extern "C" {
#pragma GCC visibility push(default)

#define TM_CODE __builtin_return_address(0)
#define TM_HOOKS(SIZE)                                                                             \
  void __tsan_read##SIZE(void *p) { if (race_on) reading(p, SIZE, TM_CODE); }                      \
  void __tsan_write##SIZE(void *p) { if (race_on) writing(p, SIZE, TM_CODE); }                     \
  void __tsan_unaligned_read##SIZE(void *p) { if (race_on) reading(p, SIZE, TM_CODE); }            \
  void __tsan_unaligned_write##SIZE(void *p) { if (race_on) writing(p, SIZE, TM_CODE); }           \
  void __tsan_volatile_read##SIZE(void *p) { if (race_on) reading(p, SIZE, TM_CODE); }             \
  void __tsan_volatile_write##SIZE(void *p) { if (race_on) writing(p, SIZE, TM_CODE); }
TM_HOOKS(1)
TM_HOOKS(2)
TM_HOOKS(4)
TM_HOOKS(8)
TM_HOOKS(16)
void __tsan_read_range(void *p, unsigned long size) { if (race_on) reading(p, (uint32_t)size, TM_CODE); }
void __tsan_write_range(void *p, unsigned long size) { if (race_on) writing(p, (uint32_t)size, TM_CODE); }
void __tsan_vptr_update(void **p, void *) { if (race_on) writing(p, 8, TM_CODE); }
void __tsan_vptr_read(void **p) { if (race_on) reading(p, 8, TM_CODE); }
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int) {
  if (!race_on) return;
  settle();
  uint32_t self = block().current->flat;
  fences[self] = Fence{clock_of(self), barrier_clock};
  own_clock[self] = ++now;
}

// An operation that leaves the value as it was is an atomic read.
#define TM_ATOMIC_HOOK(BITS, NAME, NEXT)                                                           \
  uint##BITS##_t __tsan_atomic##BITS##_##NAME(uint##BITS##_t *p, uint##BITS##_t v, int) {          \
    if (race_on) settle();                                                                         \
    uint##BITS##_t old = *p;                                                                       \
    *p = (uint##BITS##_t)(NEXT);                                                                   \
    if (race_on) atomic_access(p, old, true, TM_CODE);                                             \
    return old;                                                                                    \
  }
#define TM_ATOMIC_HOOKS(BITS)                                                                      \
  uint##BITS##_t __tsan_atomic##BITS##_load(const uint##BITS##_t *p, int) {                        \
    uint##BITS##_t value = *p;                                                                     \
    if (race_on) settle(), atomic_access(const_cast<uint##BITS##_t *>(p), value, false, TM_CODE);  \
    return value;                                                                                  \
  }                                                                                                \
  void __tsan_atomic##BITS##_store(uint##BITS##_t *p, uint##BITS##_t v, int) {                     \
    if (race_on) settle();                                                                         \
    uint##BITS##_t old = *p;                                                                       \
    *p = v;                                                                                        \
    if (race_on) atomic_access(p, old, true, TM_CODE);                                             \
  }                                                                                                \
  TM_ATOMIC_HOOK(BITS, exchange, v)                                                                \
  TM_ATOMIC_HOOK(BITS, fetch_add, old + v)                                                         \
  TM_ATOMIC_HOOK(BITS, fetch_sub, old - v)                                                         \
  TM_ATOMIC_HOOK(BITS, fetch_and, old & v)                                                         \
  TM_ATOMIC_HOOK(BITS, fetch_or, old | v)                                                          \
  TM_ATOMIC_HOOK(BITS, fetch_xor, old ^ v)                                                         \
  TM_ATOMIC_HOOK(BITS, fetch_nand, ~(old & v))                                                     \
  int __tsan_atomic##BITS##_compare_exchange_strong(uint##BITS##_t *p, uint##BITS##_t *expected,   \
                                                    uint##BITS##_t v, int, int) {                  \
    if (race_on) settle();                                                                         \
    uint##BITS##_t old = *p;                                                                       \
    bool equal = old == *expected;                                                                 \
    if (equal) *p = v;                                                                             \
    *expected = old;                                                                               \
    if (race_on) atomic_access(p, old, true, TM_CODE);                                             \
    return equal;                                                                                  \
  }                                                                                                \
  int __tsan_atomic##BITS##_compare_exchange_weak(uint##BITS##_t *p, uint##BITS##_t *expected,     \
                                                  uint##BITS##_t v, int a, int b) {                \
    return __tsan_atomic##BITS##_compare_exchange_strong(p, expected, v, a, b);                    \
  }
TM_ATOMIC_HOOKS(8)
TM_ATOMIC_HOOKS(16)
TM_ATOMIC_HOOKS(32)
TM_ATOMIC_HOOKS(64)

#pragma GCC visibility pop
}  // extern "C"
