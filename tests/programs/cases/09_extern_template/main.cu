#include <cstdio>
#include <cuda_runtime.h>

template <class T> __host__ __device__ T cube(T x) { return x * x * x; }
extern template __host__ __device__ int cube<int>(int);
template __host__ __device__ int cube<int>(int);
template <class T> __host__ __device__ T half_of(T x) { return x / 2; }
template __host__ __device__ double half_of<double>(double);

__global__ void apply(int *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = cube(x[i]);
  y[i] = half_of(y[i]);
}

int main() {
  const int n = 70;
  int host[n], *x, wrong = 0;
  double real[n], *y;
  for (int i = 0; i < n; ++i) host[i] = i - 30, real[i] = 0.25 * i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof real);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(y, real, sizeof real, cudaMemcpyHostToDevice);
  apply<<<3, 32>>>(x, y, n);
  wrong += cudaGetLastError() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(real, y, sizeof real, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != cube(i - 30) || real[i] != half_of(0.25 * i);
  cudaFree(x);
  cudaFree(y);
  std::printf("extern_template: %d wrong\n", wrong);
  return wrong != 0;
}
