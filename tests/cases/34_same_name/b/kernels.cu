#include <cuda_runtime.h>

static __global__ void update(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 2;
}

namespace {
__global__ void hidden(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (x[i] * 2) ^ 3;
}
}  // namespace

void run_b(int *x, int n) {
    update<<<(n + 63) / 64, 64>>>(x, n);
    hidden<<<(n + 63) / 64, 64>>>(x, n);
}
