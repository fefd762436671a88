#include <cstdio>
#include <cuda_runtime.h>

template <class F> __global__ void for_each(int *x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(i, x[i]);
}

template <class F> static void apply(int *x, int n, F f) { for_each<<<(n + 63) / 64, 64>>>(x, n, f); }

int main() {
  const int n = 130;
  int host[n], *x, wrong = 0;
  cudaMalloc(&x, sizeof host);
  cudaMemset(x, 0, sizeof host);
  int scale = 3, offset = -4;
  apply(x, n, [] __device__(int i, int) { return i; });
  apply(x, n, [=] __device__(int, int value) { return value * scale; });
  apply(x, n, [offset] __device__(int i, int value) { return i % 2 ? value + offset : value - offset; });
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != i * 3 + (i % 2 ? -4 : 4);
  cudaFree(x);
  std::printf("device_lambdas: %d wrong\n", wrong);
  return wrong != 0;
}
