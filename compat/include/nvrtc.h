// NVRTC: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_NVRTC_H
#define TM_NVRTC_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
typedef struct nvrtcProgram_st *nvrtcProgram;
enum nvrtcResult { NVRTC_SUCCESS = 0 };
TM_ANY(const char *, nvrtcGetErrorString)
TM_ANY(nvrtcResult, nvrtcCreateProgram)
TM_ANY(nvrtcResult, nvrtcDestroyProgram)
TM_ANY(nvrtcResult, nvrtcCompileProgram)
TM_ANY(nvrtcResult, nvrtcGetPTXSize)
TM_ANY(nvrtcResult, nvrtcGetPTX)
TM_ANY(nvrtcResult, nvrtcGetProgramLog)
TM_ANY(nvrtcResult, nvrtcGetProgramLogSize)
TM_ANY(nvrtcResult, nvrtcVersion)
#endif
