#include <cstdio>

#include <cuda_runtime_api.h>

void scale_in_a(int *x, int n);
void scale_in_b(int *x, int n);

int main() {
  const int n = 100;
  int host[n], wrong = 0;
  void *x;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  scale_in_a(static_cast<int *>(x), n);
  scale_in_b(static_cast<int *>(x), n);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != (2 * i + 5) * 10 - 1;
  cudaFree(x);
  std::printf("header_contexts: %d wrong\n", wrong);
  return wrong != 0;
}
