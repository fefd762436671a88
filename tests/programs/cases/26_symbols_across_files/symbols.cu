#include <cuda_runtime.h>

__constant__ float coefficients[4];
__device__ int calls;
__managed__ int results[64];

namespace inner {
__constant__ int offset = 3;
}

void set_coefficients(const float *values) {
  cudaMemcpyToSymbol(coefficients, values, 4 * sizeof(float));
  const int offset = 40;
  cudaMemcpyToSymbol(inner::offset, &offset, sizeof offset);
}
