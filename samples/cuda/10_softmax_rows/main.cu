// Row-wise softmax, one block per row: maximum, sum and scaling with two shared-memory reductions.
// Usage: softmax_rows [rows cols]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

constexpr int kBlock = 64;

__device__ float block_max(float value, float *scratch) {
    const int tid = threadIdx.x;
    scratch[tid] = value;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s >>= 1) {
        if (tid < s) scratch[tid] = fmaxf(scratch[tid], scratch[tid + s]);
        __syncthreads();
    }
    const float result = scratch[0];
    __syncthreads();
    return result;
}

__device__ float block_sum(float value, float *scratch) {
    const int tid = threadIdx.x;
    scratch[tid] = value;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s >>= 1) {
        if (tid < s) scratch[tid] += scratch[tid + s];
        __syncthreads();
    }
    const float result = scratch[0];
    __syncthreads();
    return result;
}

__global__ void softmax_rows(const float *input, float *output, int rows, int cols) {
    __shared__ float scratch[kBlock];
    const int row = blockIdx.x;
    if (row >= rows) return;
    const float *x = input + row * cols;
    float *y = output + row * cols;

    float peak = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += kBlock) {
        peak = fmaxf(peak, x[c]);
    }
    peak = block_max(peak, scratch);

    float total = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kBlock) {
        const float e = expf(x[c] - peak);
        y[c] = e;
        total += e;
    }
    total = block_sum(total, scratch);

    const float scale = 1.0f / total;
    for (int c = threadIdx.x; c < cols; c += kBlock) {
        y[c] *= scale;
    }
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 37;
    const int cols = argc > 2 ? atoi(argv[2]) : 150;
    const size_t count = static_cast<size_t>(rows) * cols;
    std::vector<float> in(count), out(count);
    for (size_t i = 0; i < count; ++i) {
        in[i] = 3.0f * std::sin(static_cast<float>(i) * 0.7f) + static_cast<float>(i % 11) * 0.1f;
    }

    float *d_in = nullptr;
    float *d_out = nullptr;
    CHECK(cudaMalloc(&d_in, count * sizeof(float)));
    CHECK(cudaMalloc(&d_out, count * sizeof(float)));
    CHECK(cudaMemcpy(d_in, in.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    softmax_rows<<<rows, kBlock>>>(d_in, d_out, rows, cols);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));

    double worst = 0.0;
    for (int r = 0; r < rows; ++r) {
        double peak = -1e30, total = 0.0;
        for (int c = 0; c < cols; ++c) peak = std::fmax(peak, in[r * cols + c]);
        for (int c = 0; c < cols; ++c) total += std::exp(in[r * cols + c] - peak);
        for (int c = 0; c < cols; ++c) {
            const double want = std::exp(in[r * cols + c] - peak) / total;
            worst = std::fmax(worst, std::fabs(want - out[r * cols + c]));
        }
    }
    printf("softmax %dx%d max error %.2e: %s\n", rows, cols, worst, worst < 1e-6 ? "PASS" : "FAIL");
    return worst < 1e-6 ? 0 : 1;
}
