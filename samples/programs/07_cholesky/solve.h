// Forward and backward substitution with a factor in device memory, in place on the right side.
#pragma once
#include <cuda_runtime_api.h>

cudaError_t solve_factored(const double *factor, double *vector, int size);
