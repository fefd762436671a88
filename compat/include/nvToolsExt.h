// NVTX: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_NVTOOLSEXT_H
#define TM_NVTOOLSEXT_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
TM_ANY(int, nvtxRangePushA)
TM_ANY(int, nvtxRangePop)
TM_ANY(int, nvtxRangePush)
TM_ANY(int, nvtxMarkA)
TM_ANY(int, nvtxMark)
#endif
