// the profiler interface: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CUDA_PROFILER_API_H
#define TM_CUDA_PROFILER_API_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"

#endif
