#include <cstdio>
#include <cuda_runtime.h>

// "k<<<1, 1>>>()" in a comment, and cudaMalloc(&p, 4) too.
static const char *usage = "run<<<grid, block>>>(cudaMalloc)";
static int cudaMallocCount = 0;
static int my_cudaFree(int warpSize2) {
    return warpSize2 + cudaMallocCount;
}

__global__ void warp_slots(int *cuda_x, int warpSize2) {
    int threadIdx_x = blockIdx.x * blockDim.x + threadIdx.x;
    cuda_x[threadIdx_x] = warpSize2 + threadIdx_x;
}

int run(int *x) {
    std::puts(usage);
    std::puts(R"(nested <<<"quotes">>> cudaMemcpy(a, b))");
    int shifted = 1 << 2 << 3;
    warp_slots<<<2, 32>>>(x, my_cudaFree(shifted));
    return shifted >> 1 >> 1;
}
