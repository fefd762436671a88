#include <cstdio>
#include <cuda_runtime.h>

template <class T> struct Counter {
  __device__ static int ones(T bits) { return __popc(bits) + __clz(bits); }
};

template <class T> __global__ void never(int *out, T bits) { out[threadIdx.x] = Counter<T>::ones(bits); }

__global__ void count(int *out, unsigned bits) { out[threadIdx.x] = __popc(bits >> threadIdx.x); }

int main() {
  int host[32], *x, wrong = 0;
  cudaMalloc(&x, sizeof host);
  count<<<1, 32>>>(x, 0xf0f0f0f0u);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) wrong += host[i] != __builtin_popcount(0xf0f0f0f0u >> i);
  cudaFree(x);
  std::printf("not_instantiated: %d wrong\n", wrong);
  return wrong != 0;
}
