// Data races: which threads of a launch touched a byte, and whether anything orders them.
//
// Hooks that the compiler puts before every access (-fsanitize=thread, without its run-time library)
// call in here; this file also hears of barriers. Nothing is recorded unless a run asks for it.
#ifndef TM_RACE_H
#define TM_RACE_H

#include <stdint.h>

#include "block.h"

namespace tile_migrate {

extern bool race_on;

// Watches the arena, shared memory and the given ranges from here to race_end. False: no memory.
bool race_begin(const tm_options *options, tm_arena *arena, uint8_t *shared, uint64_t shared_bytes,
                const void *entry);
void race_end();
void race_block();    // a block starts
void race_barrier();  // all threads of the block met
void race_warp(Thread **group, uint32_t size);  // these lanes met at __syncwarp
// The current thread is about to stop: what its last store changed is decided now.
void race_settle();

}  // namespace tile_migrate

#endif
