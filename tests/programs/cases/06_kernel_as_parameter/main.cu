#include <cstdio>
#include <cuda_runtime.h>

__global__ void add_one(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

__global__ void triple(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 3;
}

template <int Factor> __global__ void add_factor(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += Factor;
}

using Kernel = void (*)(int *, int);

template <Kernel kernel> static void launch_parameter(int *x, int n) { kernel<<<(n + 63) / 64, 64>>>(x, n); }

static void launch_pointer(Kernel kernel, int *x, int n) { kernel<<<(n + 31) / 32, 32>>>(x, n); }

template <class F> static void launch_deduced(F kernel, int *x, int n) { kernel<<<1, 256>>>(x, n); }

int main() {
  const int n = 200;
  int host[n], *x, wrong = 0;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  launch_parameter<add_one>(x, n);
  launch_pointer(triple, x, n);
  launch_parameter<add_factor<7>>(x, n);
  launch_deduced(add_factor<11>, x, n);
  launch_deduced(&add_one, x, n);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != (i + 1) * 3 + 19;
  cudaFree(x);
  std::printf("kernel_as_parameter: %d wrong\n", wrong);
  return wrong != 0;
}
