// Counts of the calls of each API function; written at exit to $TILE_MIGRATE_TRACE.
#ifndef TM_CUDART_TRACE_H
#define TM_CUDART_TRACE_H

#include "internal.h"

namespace tile_migrate {

void count_call(Api api, cudaError_t error) noexcept;
// Something that the user should know, once each: on stderr only when tracing.
void trace_note(const char *what, const char *detail) noexcept;
void write_trace();

}  // namespace tile_migrate

#endif
