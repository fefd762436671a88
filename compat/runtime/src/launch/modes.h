// What the modes check and record share with plain launches.
#ifndef TM_MODES_H
#define TM_MODES_H

#include <string>

#include "launch.h"

namespace tile_migrate {

// A cudaError, or TM_NOT_APPLICABLE (also when there is no such implementation).
int run_implementation(Kernel &kernel, int kind, const tm_launch &launch, void **arguments);
int run_chosen(Kernel &kernel, const Choice &choice, const tm_launch &launch, void **arguments);

// Runs the kept implementation, then the chosen one on the same memory, compares, and leaves what
// the kept one computed. See docs/guide/modes.md.
int run_checked(Kernel &kernel, const Choice &choice, const tm_launch &launch, void **arguments);
// Runs the launch and writes what it read and wrote below TILE_MIGRATE_RECORD.
int run_recorded(Kernel &kernel, const Choice &choice, const tm_launch &launch, void **arguments);

std::string json_text(const std::string &text);

}  // namespace tile_migrate

#endif
