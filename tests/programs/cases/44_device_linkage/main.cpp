#include <cuda_runtime.h>
#include <cstdio>
int run_a(int *, int), run_b(int *, int);

static int expected(int i, int limit) {
  return (i > limit ? limit : i) + (i + limit) + (i + 2 * limit) + i * limit + limit + limit + (i & 1) + 5 * i;
}
int main() {
  const int n = 100;
  int host[n], *x, wrong = 0;
  cudaMalloc(&x, sizeof host);
  int (*const runs[2])(int *, int) = {run_a, run_b};
  for (int k = 0; k < 2; ++k) {
    const int limit = k ? 10 : 3;
    wrong += runs[k](x, n) != limit;
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) wrong += host[i] != expected(i, limit);
  }
  std::printf("device_linkage: %d wrong\n", wrong);
  return wrong != 0;
}
