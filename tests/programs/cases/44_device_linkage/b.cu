#define LIMIT 10
#include "device.cuh"

__global__ void in_b(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = clamped(i) + weak_limit(i) + Step{2}.next(i) + scaled(i) + per_unit + table[i & 1] + twice(i) + thrice(i);
}
int run_b(int *x, int n) {
  in_b<<<(n + 31) / 32, 32>>>(x, n);
  int value = 0;
  cudaMemcpyFromSymbol(&value, per_unit, sizeof value);
  return value;
}
