#include <cstdio>
#include <cuda_runtime.h>

void run_a(int *x);
void run_b(int *x);

int main() {
  int host[64], *x, wrong = 0;
  cudaMalloc(&x, sizeof host);
  cudaMemset(x, 0, sizeof host);
  run_a(x);
  run_b(x);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) wrong += host[i] != 306;
  cudaFree(x);
  std::printf("same_name: %d wrong\n", wrong);
  return wrong != 0;
}
