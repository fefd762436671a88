#include <cstdio>
#include <cuda_runtime.h>

extern __constant__ float coefficients[4];
extern __device__ int calls;
extern __managed__ int results[64];
namespace inner {
extern __constant__ int offset;
}

void set_coefficients(const float *values);

__global__ void evaluate() {
  float x = threadIdx.x, sum = 0.0f;
  for (int k = 3; k >= 0; --k) sum = sum * x + coefficients[k];
  results[threadIdx.x] = (int)sum + inner::offset;
  atomicAdd(&calls, 1);
}

int main() {
  const float values[4] = {1.0f, 2.0f, 0.0f, 1.0f};
  int wrong = 0, count = -1;
  set_coefficients(values);
  for (int i = 0; i < 64; ++i) results[i] = -1;
  evaluate<<<1, 64>>>();
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 64; ++i) wrong += results[i] != 1 + 2 * i + i * i * i + 40;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  wrong += count != 64;
  std::printf("symbols_across_files: %d wrong\n", wrong);
  return wrong != 0;
}
