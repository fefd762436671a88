// Guarded and demand-mapped buffers, and the fill generator.
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "internal.h"

struct tm_arena {
  std::vector<tile_migrate::Region> regions;
};

namespace tile_migrate {

namespace {

// An index of 32 bits times an element of 8 bytes stays inside.
constexpr uint64_t kGuard = 1ULL << 34;
constexpr uint64_t kSmallGuard = 1ULL << 30;

int element_bytes(int32_t dtype) {
  switch (dtype) {
    case TM_I8: case TM_U8: return 1;
    case TM_I16: case TM_U16: case TM_F16: case TM_BF16: return 2;
    case TM_I64: case TM_U64: case TM_F64: return 8;
    default: return 4;
  }
}

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

uint16_t to_bfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

uint16_t to_float16(double value) {
  uint16_t sign = signbit(value) ? 0x8000u : 0;
  double magnitude = fabs(value);
  if (isnan(value)) return sign | 0x7e00u;
  if (magnitude >= 65520.0) return sign | 0x7c00u;
  if (magnitude < 0x1p-14) return sign | (uint16_t)nearbyint(magnitude * 0x1p24);
  int exponent;
  double fraction = frexp(magnitude, &exponent);
  uint32_t mantissa = (uint32_t)nearbyint(fraction * 2048.0);
  return sign | (uint16_t)(((uint32_t)(exponent + 14) << 10) + (mantissa - 1024u));
}

template <class T>
void put(uint8_t *out, T value) {
  memcpy(out, &value, sizeof(T));
}

void store(uint8_t *out, int32_t dtype, int64_t whole, double real, bool is_real) {
  switch (dtype) {
    case TM_F32: put<float>(out, is_real ? (float)real : (float)whole); return;
    case TM_F64: put<double>(out, is_real ? real : (double)whole); return;
    case TM_F16: put<uint16_t>(out, to_float16(is_real ? real : (double)whole)); return;
    case TM_BF16: put<uint16_t>(out, to_bfloat16(is_real ? (float)real : (float)whole)); return;
    default: break;
  }
  int64_t value = is_real ? (int64_t)real : whole;
  memcpy(out, &value, element_bytes(dtype));
}

void fill_element(const tm_fill &fill, uint8_t *out, int64_t index) {
  uint64_t random = mix(fill.seed ^ mix((uint64_t)index));
  switch (fill.kind) {
    case TM_FILL_UNIFORM_INT: {
      uint64_t span = (uint64_t)fill.int_high - (uint64_t)fill.int_low + 1;
      uint64_t step = span ? (uint64_t)(((unsigned __int128)random * span) >> 64) : random;
      store(out, fill.dtype, (int64_t)((uint64_t)fill.int_low + step), 0.0, false);
      return;
    }
    case TM_FILL_UNIFORM_FLOAT: {
      double unit = (double)(random >> 11) * 0x1p-53;
      store(out, fill.dtype, 0, fill.float_low + unit * (fill.float_high - fill.float_low), true);
      return;
    }
    case TM_FILL_IOTA:
      store(out, fill.dtype, std::min(fill.int_low + index * fill.int_step, fill.int_high), 0.0, false);
      return;
    default:
      memset(out, 0, element_bytes(fill.dtype));
  }
}

}  // namespace

bool Region::reserve(uint64_t bytes) {
  window_bytes = round_up(bytes, kPage);
  for (uint64_t guard : {kGuard, kSmallGuard}) {
    mapping_bytes = window_bytes + 2 * guard;
    void *got = mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) continue;
    mapping = (uint8_t *)got;
    window = mapping + guard;
    return true;
  }
  mapping_bytes = 0;
  return false;
}

void Region::release() {
  if (mapping) munmap(mapping, mapping_bytes);
  mapping = nullptr;
}

void Region::record(int64_t low, int64_t high, bool write) {
  int64_t &known_low = write ? write_low : read_low, &known_high = write ? write_high : read_high;
  if (known_low == known_high) {
    known_low = low;
    known_high = high;
    return;
  }
  known_low = std::min(known_low, low);
  known_high = std::max(known_high, high);
}

// Called from the signal handler: system calls and plain stores only.
Demand serve_demand(Region &region, uint8_t *address, bool write) {
  if (!region.demand || address < region.window || address >= region.window + region.window_bytes)
    return Demand::kOutside;
  uint64_t number = (uint64_t)(address - region.window) / kPage;
  uint8_t *page = region.window + number * kPage;
  if (!region.pages[number]) {
    if (region.mapped + kPage > region.cap) return Demand::kOverCap;
    mprotect(page, kPage, PROT_READ | PROT_WRITE);
    int size = element_bytes(region.fill.dtype);
    int64_t first = (page - region.pointer) / size;  // pointer is page aligned, size divides a page
    for (uint64_t at = 0; at < kPage; at += size) fill_element(region.fill, page + at, first++);
    region.pages[number] = 1;
    region.mapped += kPage;
  }
  int64_t low = region.traced ? address - region.pointer : page - region.pointer;
  region.record(low, low + (region.traced ? 1 : (int64_t)kPage), write);
  mprotect(page, kPage, write || region.traced ? PROT_READ | PROT_WRITE : PROT_READ);
  return Demand::kServed;
}

void protect_page(uint8_t *page) { mprotect(page, kPage, PROT_NONE); }

std::vector<Region> &arena_regions(tm_arena *arena) { return arena->regions; }

Region *find_region(tm_arena *arena, const uint8_t *address, int32_t *id) {
  if (!arena) return nullptr;
  for (size_t i = 0; i < arena->regions.size(); ++i) {
    if (!arena->regions[i].contains(address)) continue;
    *id = (int32_t)i;
    return &arena->regions[i];
  }
  return nullptr;
}

}  // namespace tile_migrate

using tile_migrate::kPage;
using tile_migrate::Region;

extern "C" {
#pragma GCC visibility push(default)

tm_arena *tm_arena_create(void) { return new (std::nothrow) tm_arena; }

void tm_arena_destroy(tm_arena *arena) {
  if (!arena) return;
  for (Region &region : arena->regions) region.release();
  delete arena;
}

int32_t tm_arena_add_guarded(tm_arena *arena, uint64_t bytes, uint64_t alignment, int32_t at_start,
                             void **pointer) {
  if (alignment == 0 || (alignment & (alignment - 1)) || alignment > kPage) return -1;
  uint64_t placed = tile_migrate::round_up(bytes, alignment);
  Region region;
  if (!region.reserve(placed)) return -1;
  if (region.window_bytes &&
      mprotect(region.window, region.window_bytes, PROT_READ | PROT_WRITE) != 0) {
    region.release();
    return -1;
  }
  region.pointer = region.window + (at_start ? 0 : region.window_bytes - placed);
  *pointer = region.pointer;
  arena->regions.push_back(region);
  return (int32_t)arena->regions.size() - 1;
}

int32_t tm_arena_add_demand(tm_arena *arena, uint64_t reserve, uint64_t lead, uint64_t cap,
                            const tm_fill *fill, void **pointer) {
  lead = tile_migrate::round_up(lead, kPage);
  Region region;
  if (!region.reserve(lead + reserve)) return -1;
  region.demand = true;
  region.fill = *fill;
  region.cap = cap;
  region.pages.resize(region.window_bytes / kPage);
  region.pointer = region.window + lead;
  *pointer = region.pointer;
  arena->regions.push_back(std::move(region));
  return (int32_t)arena->regions.size() - 1;
}

int32_t tm_arena_trace(tm_arena *arena, int32_t buffer, int32_t on) {
  if (buffer < 0 || (size_t)buffer >= arena->regions.size()) return -1;
  Region &region = arena->regions[buffer];
  if (!region.demand) return -1;
  region.traced = on != 0;
  mprotect(region.window, region.window_bytes, PROT_NONE);
  return 0;
}

int32_t tm_arena_touched(const tm_arena *arena, int32_t buffer, int64_t out[5]) {
  memset(out, 0, 5 * sizeof(int64_t));
  if (buffer < 0 || (size_t)buffer >= arena->regions.size()) return -1;
  const Region &region = arena->regions[buffer];
  const int64_t values[5] = {region.read_low, region.read_high, region.write_low, region.write_high,
                             (int64_t)region.mapped};
  memcpy(out, values, sizeof values);
  return 0;
}

void tm_fill_elements(const tm_fill *fill, void *destination, int64_t first, uint64_t count) {
  uint8_t *out = (uint8_t *)destination;
  int size = tile_migrate::element_bytes(fill->dtype);
  for (uint64_t i = 0; i < count; ++i) tile_migrate::fill_element(*fill, out + i * size, first + (int64_t)i);
}

#pragma GCC visibility pop
}  // extern "C"
