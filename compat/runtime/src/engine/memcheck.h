// The memory checker: every access of instrumented kernel code, against what the device may touch.
#ifndef TM_MEMCHECK_H
#define TM_MEMCHECK_H

#include "executor.h"

namespace tile_migrate {

extern bool memcheck_on;  // TILE_MIGRATE_MEMCHECK=1
// The calling OS thread is about to run blocks of this launch.
void memcheck_begin(Executor *executor, const tm_launch &launch, void **arguments);
// A block starts: nothing is in shared memory yet.
void memcheck_block();

}  // namespace tile_migrate

#endif
