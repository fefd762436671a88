#include <cuda_runtime.h>

static unsigned ceil_div(int a, int b) {
    return (unsigned)((a + b - 1) / b);
}

__global__ void layer_bias(float *x, const float *bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int layer = blockIdx.y;
    if (i < n) x[layer * n + i] += bias[layer] + (float)gridDim.y;
}

void run(float *x, const float *bias, int n, int L) {
    const int B = 32;
    dim3 g = {ceil_div(n, B), (unsigned)L, 1};
    layer_bias<<<g, B>>>(x, bias, n);
}
