// 64-bin histogram of bytes: per-block bins in shared memory, then one atomicAdd per bin and block.
// Usage: histogram [n]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define GUARD(call)                                                                     \
    do {                                                                                \
        cudaError_t result = (call);                                                    \
        if (result != cudaSuccess) {                                                    \
            fprintf(stderr, "%s\n", cudaGetErrorString(result));                        \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define NUM_BINS 64

__global__ void histogram_shared(const unsigned char *data, size_t size, unsigned int *histo) {
    __shared__ unsigned int bins[NUM_BINS];
    for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x) {
        bins[b] = 0;
    }
    __syncthreads();

    size_t i = threadIdx.x + static_cast<size_t>(blockIdx.x) * blockDim.x;
    const size_t stride = static_cast<size_t>(blockDim.x) * gridDim.x;
    while (i < size) {
        atomicAdd(&bins[data[i] >> 2], 1u);
        i += stride;
    }
    __syncthreads();

    for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x) {
        atomicAdd(&histo[b], bins[b]);
    }
}

__global__ void histogram_range(const int *values, int n, int lo, int hi, unsigned int *histo,
                                int *extremes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = values[i];
    atomicMin(&extremes[0], v);
    atomicMax(&extremes[1], v);
    if (v < lo || v >= hi) return;
    int bin = static_cast<int>((static_cast<long long>(v) - lo) * NUM_BINS /
                               (static_cast<long long>(hi) - lo));
    atomicAdd(histo + bin, 1u);
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 60007;
    const int lo = -300, hi = 700;
    std::vector<unsigned char> bytes(n);
    std::vector<int> values(n);
    std::vector<unsigned int> want(NUM_BINS, 0), want_range(NUM_BINS, 0);
    int smallest = 2147483647, largest = -2147483647 - 1;
    unsigned lcg = 7u;
    for (size_t i = 0; i < n; ++i) {
        lcg = lcg * 1103515245u + 12345u;
        bytes[i] = static_cast<unsigned char>(lcg >> 16);
        values[i] = static_cast<int>((lcg >> 8) % 1400u) - 500;
        ++want[bytes[i] >> 2];
        if (values[i] >= lo && values[i] < hi) ++want_range[(values[i] - lo) * NUM_BINS / (hi - lo)];
        if (values[i] < smallest) smallest = values[i];
        if (values[i] > largest) largest = values[i];
    }

    unsigned char *d_bytes;
    int *d_values, *d_extremes;
    unsigned int *d_histo, *d_range;
    GUARD(cudaMalloc(&d_bytes, n));
    GUARD(cudaMalloc(&d_values, n * sizeof(int)));
    GUARD(cudaMalloc(&d_extremes, 2 * sizeof(int)));
    GUARD(cudaMalloc(&d_histo, NUM_BINS * sizeof(unsigned int)));
    GUARD(cudaMalloc(&d_range, NUM_BINS * sizeof(unsigned int)));
    GUARD(cudaMemcpy(d_bytes, bytes.data(), n, cudaMemcpyHostToDevice));
    GUARD(cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    const int start[2] = {2147483647, -2147483647 - 1};
    GUARD(cudaMemcpy(d_extremes, start, sizeof start, cudaMemcpyHostToDevice));
    GUARD(cudaMemset(d_histo, 0, NUM_BINS * sizeof(unsigned int)));
    GUARD(cudaMemset(d_range, 0, NUM_BINS * sizeof(unsigned int)));

    histogram_shared<<<24, 96>>>(d_bytes, n, d_histo);
    GUARD(cudaGetLastError());
    histogram_range<<<(static_cast<int>(n) + 127) / 128, 128>>>(d_values, static_cast<int>(n), lo,
                                                                 hi, d_range, d_extremes);
    GUARD(cudaGetLastError());

    std::vector<unsigned int> got(NUM_BINS), got_range(NUM_BINS);
    int extremes[2];
    GUARD(cudaMemcpy(got.data(), d_histo, NUM_BINS * sizeof(unsigned int), cudaMemcpyDeviceToHost));
    GUARD(cudaMemcpy(got_range.data(), d_range, NUM_BINS * sizeof(unsigned int),
                     cudaMemcpyDeviceToHost));
    GUARD(cudaMemcpy(extremes, d_extremes, sizeof extremes, cudaMemcpyDeviceToHost));
    cudaFree(d_bytes);
    cudaFree(d_values);
    cudaFree(d_extremes);
    cudaFree(d_histo);
    cudaFree(d_range);
    const bool ok = got == want && got_range == want_range && extremes[0] == smallest &&
                    extremes[1] == largest;
    printf("histogram n=%zu: %s\n", n, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
