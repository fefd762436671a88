// The C interface only.
#ifndef TM_CUDA_PIPELINE_H
#define TM_CUDA_PIPELINE_H
#include "cuda_pipeline_primitives.h"
#endif
