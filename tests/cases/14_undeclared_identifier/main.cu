#include <cuda_runtime.h>

__global__ void broken(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * undeclared_factor;
}

__global__ void intact(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 2.0f;
}

void run(float *x, int n) {
    broken<<<(n + 63) / 64, 64>>>(x, n);
    intact<<<(n + 63) / 64, 64>>>(x, n);
}
