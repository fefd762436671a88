#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *x, int value, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value + i;
}

__global__ void negate(int *x, int, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = -x[i];
}

template <class T> __global__ void shift(T *x, T by, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] + by;
}

__global__ void reverse(int *x, int, int n) {
  extern __shared__ int copy[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) copy[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = copy[n - 1 - i];
}

typedef void (*Kernel)(int *, int, int);
static const Kernel table[] = {fill, negate, shift<int>, reverse};

int main() {
  int host[100], *x, n = 100, wrong = 0;
  cudaMalloc((void **)&x, sizeof host);
  wrong += cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024) != cudaSuccess;
  for (int k = 0; k < 3; ++k) {
    int value = 5 * (k + 1);
    void *arguments[] = {&x, &value, &n};
    wrong += cudaLaunchKernel((void *)table[k], dim3(1), dim3(64), arguments, 0, 0) != cudaSuccess;
  }
  table[3]<<<1, 64, 60 * 1024>>>(x, 0, n);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaFuncAttributes attributes;
  wrong += cudaFuncGetAttributes(&attributes, (const void *)table[3]) != cudaSuccess;
  wrong += attributes.maxDynamicSharedSizeBytes != 60 * 1024;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != -(5 + n - 1 - i) + 15;
  cudaFree(x);
  std::printf("kernel_pointers: %d wrong\n", wrong);
  return wrong != 0;
}
