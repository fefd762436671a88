#include <cstdio>
#include <cuda_runtime.h>
#if 0
#include "there_is_no_such_header.h"
#endif

__host__ __device__ inline int where() {
#ifdef __CUDA_ARCH__
  return 1;
#else
  return 0;
#endif
}

__device__ inline int generation() {
#if __CUDA_ARCH__ >= 700
  return 7;
#elif defined(__CUDA_ARCH__)
  return 3;
#else
  return 0;
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#define HAS_DOUBLE_ATOMICS 1
#else
#define HAS_DOUBLE_ATOMICS 0
#endif

__global__ void ask(int *out, double *sum) {
  out[threadIdx.x] = 10 * where() + generation();
#if HAS_DOUBLE_ATOMICS
  atomicAdd(sum, 0.5);
#else
#error "not for this device"
#endif
}

// All device code sees one generation.
int main() {
  int host[32], *x, wrong = 0;
  double sum = 0, *y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof sum);
  cudaMemset(y, 0, sizeof sum);
  ask<<<1, 32>>>(x, y);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(&sum, y, sizeof sum, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) wrong += host[i] != host[0] || (host[i] != 17 && host[i] != 13 && host[i] != 0);
  wrong += sum != 16.0;
  cudaFree(x);
  cudaFree(y);
  std::printf("arch_branches: %d wrong\n", wrong);
  return wrong != 0;
}
