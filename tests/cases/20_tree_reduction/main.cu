#include <cuda_runtime.h>

__global__ void tree(const int *in, int *out, int n) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) out[blockIdx.x] = s[0];
}

void run(const int *in, int *out, int n) {
    tree<<<(n + 127) / 128, 128, 128 * sizeof(int)>>>(in, out, n);
}
