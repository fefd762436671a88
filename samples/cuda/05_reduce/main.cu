// Sum and maximum of n values: one partial result per block by a tree in dynamic shared memory.
// Usage: reduce [n]
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_OK(call)                                                                   \
    do {                                                                                \
        const cudaError_t rc = call;                                                    \
        if (rc != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(rc));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

__global__ void reduce_sum(const float *in, float *partial, unsigned int n) {
    extern __shared__ float scratch[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;

    float v = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n) {
        v += in[i + blockDim.x];
    }
    scratch[tid] = v;
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

__global__ void reduce_max(const float *in, float *partial, int n) {
    extern __shared__ float scratch[];
    float best = -FLT_MAX;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        best = fmaxf(best, in[i]);
    }
    scratch[threadIdx.x] = best;
    __syncthreads();
    for (int s = blockDim.x >> 1; s; s >>= 1) {
        if (threadIdx.x < s) {
            scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = scratch[0];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 50021;
    const int threads = 128;
    const int sum_blocks = (n + 2 * threads - 1) / (2 * threads);
    const int max_blocks = 16;

    std::vector<float> data(n);
    double want_sum = 0.0;
    float want_max = -FLT_MAX;
    for (int i = 0; i < n; ++i) {
        data[i] = std::sin(0.37f * static_cast<float>(i));
        want_sum += data[i];
        want_max = std::fmax(want_max, data[i]);
    }

    float *d_in = nullptr, *d_sum = nullptr, *d_max = nullptr;
    CUDA_OK(cudaMalloc(&d_in, n * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_sum, sum_blocks * sizeof(float)));
    CUDA_OK(cudaMalloc(&d_max, max_blocks * sizeof(float)));
    CUDA_OK(cudaMemcpy(d_in, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    const size_t shared = threads * sizeof(float);
    reduce_sum<<<sum_blocks, threads, shared>>>(d_in, d_sum, n);
    CUDA_OK(cudaGetLastError());
    reduce_max<<<max_blocks, threads, shared>>>(d_in, d_max, n);
    CUDA_OK(cudaGetLastError());

    std::vector<float> sums(sum_blocks), maxima(max_blocks);
    CUDA_OK(cudaMemcpy(sums.data(), d_sum, sum_blocks * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(maxima.data(), d_max, max_blocks * sizeof(float), cudaMemcpyDeviceToHost));

    double got_sum = 0.0;
    float got_max = -FLT_MAX;
    for (float v : sums) got_sum += v;
    for (float v : maxima) got_max = std::fmax(got_max, v);

    CUDA_OK(cudaFree(d_in));
    CUDA_OK(cudaFree(d_sum));
    CUDA_OK(cudaFree(d_max));
    const bool ok = std::fabs(got_sum - want_sum) < 1e-2 && got_max == want_max;
    printf("reduce n=%d sum %.5f max %.5f: %s\n", n, got_sum, got_max, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
