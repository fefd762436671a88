#include <cuda_runtime.h>

#define DIVIDE_UP(a, b) (((a) + (b) - 1) / (b))
#define LAUNCH(kernel, grid, block, ...) kernel<<<(grid), (block)>>>(__VA_ARGS__)
#define LAUNCH_CHECKED(kernel, grid, block, ...)        \
    do {                                                \
        LAUNCH(kernel, grid, block, __VA_ARGS__);       \
        if (cudaGetLastError() != cudaSuccess) return;  \
    } while (0)

template <typename T>
__global__ void scale(T *x, int n, T by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

__global__ void offset(int *x, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}

void run(float *f, int *k, int n) {
    LAUNCH((scale<float>), DIVIDE_UP(n, 128), 128, f, n, 2.0f);
    LAUNCH_CHECKED(offset, dim3(DIVIDE_UP(n, 64), 1), dim3(64, 1), k, n, 3);
}
