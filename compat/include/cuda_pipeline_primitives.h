// Asynchronous copies to shared memory: here each is done when it is asked for.
#ifndef TM_CUDA_PIPELINE_PRIMITIVES_H
#define TM_CUDA_PIPELINE_PRIMITIVES_H
#include "tm_cuda_prelude.h"
TM_FN void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
    TM_IS(memcpy(to, from, bytes - zeros); memset((char *)to + (bytes - zeros), 0, zeros);)
TM_FN void __pipeline_commit() TM_IS()
TM_FN void __pipeline_wait_prior(size_t batches) TM_IS((void)batches;)
#endif
