// How the modes check and record reach the memory that kernels work on. The runtime of the CPU and
// the library of programs on a GPU each define all of this.
#ifndef TM_LAUNCH_MEMORY_H
#define TM_LAUNCH_MEMORY_H

#include <string>
#include <vector>

#include "snapshot.h"

namespace tile_migrate {

// Waits until nothing writes memory any more. False: that cannot be done now, `why` says so.
bool settle_memory(const tm_launch &launch, std::string *why);

// Words outside the range of addresses that allocations have are integers.
bool may_be_pointer(uint64_t word);

// The region's bytes, which may have been copied to `copy`.
const uint8_t *readable(const Region &region, std::vector<uint8_t> *copy);

Contents read_contents(const std::vector<Region> &regions);
// Memory that has the contents already may be left untouched.
void write_contents(const std::vector<Region> &regions, const Contents &contents);

}  // namespace tile_migrate

#endif
