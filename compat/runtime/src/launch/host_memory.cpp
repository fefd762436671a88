// The memory of kernels that run on the CPU is the program's own.
#include <string.h>

#include <algorithm>

#include "launch.h"
#include "memory.h"

namespace tile_migrate {

bool settle_memory(const tm_launch &, std::string *) { return true; }  // streams are synchronous

// Allocations come from mmap or the heap.
bool may_be_pointer(uint64_t word) { return word >= 0x500000000000ULL && word <= 0x7fffffffffffULL; }

const uint8_t *readable(const Region &region, std::vector<uint8_t> *) { return region.base; }

Contents read_contents(const std::vector<Region> &regions) {
  Contents contents;
  for (const Region &region : regions) contents.emplace_back(region.base, region.base + region.bytes);
  return contents;
}

void write_contents(const std::vector<Region> &regions, const Contents &contents) {
  constexpr size_t kChunk = 64;
  for (size_t i = 0; i < regions.size(); ++i)
    for (size_t at = 0; at < regions[i].bytes; at += kChunk) {
      size_t bytes = std::min(kChunk, regions[i].bytes - at);
      uint8_t *to = regions[i].base + at;
      const uint8_t *from = contents[i].data() + at;
      if (memcmp(to, from, bytes) == 0) continue;
      for (size_t j = 0; j < bytes; ++j)
        if (to[j] != from[j]) to[j] = from[j];
    }
}

}  // namespace tile_migrate
