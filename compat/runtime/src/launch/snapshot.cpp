#include "snapshot.h"

#include <string.h>

#include "launch.h"
#include "memory.h"

namespace tile_migrate {

namespace {

struct Search {
  std::vector<Region> *regions;
  // True if the pointer lies in an allocation, which is a region from now on.
  bool add(uint64_t pointer, int parameter) {
    for (const Region &region : *regions)
      if (pointer - (uint64_t)region.base < region.bytes) return true;
    void *base;
    size_t bytes;
    int device;
    if (!find_allocation || !find_allocation((const void *)pointer, &base, &bytes, &device)) return false;
    regions->push_back(Region{(uint8_t *)base, bytes, parameter, "", TM_ELEMENT_UNKNOWN});
    return true;
  }
  void scan(const uint8_t *from, size_t bytes, int parameter) {
    for (size_t at = 0; at + 8 <= bytes; at += 8) {
      uint64_t word;
      memcpy(&word, from + at, 8);
      if (may_be_pointer(word)) add(word, parameter);
    }
  }
};

void add_symbol(void *context, const char *name, void *address, size_t bytes) {
  auto *regions = (std::vector<Region> *)context;
  for (Region &region : *regions)
    if ((uint8_t *)address >= region.base && (uint8_t *)address < region.base + region.bytes) return;
  regions->push_back(Region{(uint8_t *)address, bytes, -1, name, symbol_element ? symbol_element(name) : (int)TM_ELEMENT_UNKNOWN});
}

}  // namespace

std::string parameter_name(const tm_kernel_record &record, int index) {
  const char *name = record.parameters[index].name;
  return name && *name ? name : "argument " + std::to_string(index + 1);
}

bool reachable_memory(const tm_kernel_record &record, void **arguments, std::vector<Region> *regions,
                      std::string *why) {
  Search search{regions};
  if (visit_symbols) visit_symbols(add_symbol, regions);
  for (uint32_t i = 0; i < record.parameter_count; ++i) {
    const tm_parameter &parameter = record.parameters[i];
    if (!parameter.is_pointer) {
      search.scan((const uint8_t *)arguments[i], parameter.bytes, (int)i);
      continue;
    }
    uint64_t pointer;
    memcpy(&pointer, arguments[i], 8);
    if (!pointer || search.add(pointer, (int)i)) continue;
    // One past the end of an allocation is a pointer that nobody follows.
    void *base;
    size_t bytes;
    int device;
    if (find_allocation && find_allocation((const void *)(pointer - 1), &base, &bytes, &device)) continue;
    *why = parameter_name(record, (int)i) + " points to memory that is no allocation of the runtime";
    return false;
  }
  for (size_t i = 0; i < regions->size(); ++i) {
    Region region = (*regions)[i];
    uint64_t skip = (8 - (uint64_t)region.base % 8) % 8;
    std::vector<uint8_t> copy;
    if (region.bytes > skip) search.scan(readable(region, &copy) + skip, region.bytes - skip, -1);
  }
  return true;
}

}  // namespace tile_migrate
