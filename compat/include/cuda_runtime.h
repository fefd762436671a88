// cuda_runtime.h: everything nvcc offers without an include.
#ifndef TM_CUDA_RUNTIME_H
#define TM_CUDA_RUNTIME_H
#include "tm_cuda_prelude.h"
#endif
