// The OS threads that run blocks, shared by every stream that launches.
#ifndef TM_POOL_H
#define TM_POOL_H

#include <stdint.h>

namespace tile_migrate {

typedef int (*RangeBody)(void *context, uint64_t first, uint64_t last);

// How many OS threads work on one launch, the launching one included: TILE_MIGRATE_THREADS, else
// the processors that this process may use.
unsigned pool_size();

// Calls body over ranges that together are [0, count). The first non-zero result ends it and is
// returned; ranges that run at that moment are completed. alone: only on the calling thread.
int run_parallel(RangeBody body, void *context, uint64_t count, bool alone);

}  // namespace tile_migrate

#endif
