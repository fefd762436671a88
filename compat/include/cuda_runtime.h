// cuda_runtime.h: everything nvcc offers without an include. Host code of other compilers gets what
// is not device code, as with CUDA's own header: see the build's -include of the prelude.
#ifndef TM_CUDA_RUNTIME_H
#define TM_CUDA_RUNTIME_H
#ifndef TM_CUDA_PRELUDE_H
#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "vector_functions.h"
#endif
#endif
#endif
