// Bitonic sort: within a block in shared memory, and the general compare-exchange step in global
// memory for keys that carry a payload.
// Usage: bitonic_sort [log2 of the number of keys, 7 to 16]
#include <algorithm>
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

constexpr int kBlock = 128;

__device__ void order(unsigned &a, unsigned &b, bool ascending) {
    if ((a > b) == ascending) {
        const unsigned t = a;
        a = b;
        b = t;
    }
}

// Sorts each block of kBlock keys on its own; odd blocks in falling order.
__global__ void sort_block(unsigned *keys) {
    __shared__ unsigned s[kBlock];
    const unsigned tid = threadIdx.x;
    s[tid] = keys[blockIdx.x * kBlock + tid];
    const bool rising = (blockIdx.x & 1) == 0;
    for (unsigned size = 2; size <= kBlock; size <<= 1) {
        for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            const unsigned partner = tid ^ stride;
            if (partner > tid) {
                const bool up = ((tid & size) == 0) == rising;
                order(s[tid], s[partner], up);
            }
        }
    }
    __syncthreads();
    keys[blockIdx.x * kBlock + tid] = s[tid];
}

// One step of the network over the whole array of (key, payload) pairs.
__global__ void exchange_step(int *keys, short *payload, unsigned n, unsigned stride,
                              unsigned size) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned j = i ^ stride;
    if (i < n && j < n && j > i) {
        const int a = keys[i], b = keys[j];
        const bool up = (i & size) == 0;
        if (up ? a > b : a < b) {
            keys[i] = b;
            keys[j] = a;
            const short p = payload[i];
            payload[i] = payload[j];
            payload[j] = p;
        }
    }
}

int main(int argc, char **argv) {
    const int log2n = argc > 1 ? atoi(argv[1]) : 10;
    if (log2n < 7 || log2n > 16) {
        fprintf(stderr, "usage: %s [7..16]\n", argv[0]);
        return 2;
    }
    const unsigned n = 1u << log2n;
    std::vector<unsigned> keys(n), sorted_blocks(n);
    std::vector<int> pair_keys(n);
    std::vector<short> payload(n);
    unsigned state = 2463534242u;
    for (unsigned i = 0; i < n; ++i) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        keys[i] = state;
        pair_keys[i] = static_cast<int>(state) % 1000;
        payload[i] = static_cast<short>(pair_keys[i] * 3);
    }

    unsigned *d_keys;
    int *d_pair_keys;
    short *d_payload;
    CHECK(cudaMalloc(&d_keys, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&d_pair_keys, n * sizeof(int)));
    CHECK(cudaMalloc(&d_payload, n * sizeof(short)));
    CHECK(cudaMemcpy(d_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_pair_keys, pair_keys.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_payload, payload.data(), n * sizeof(short), cudaMemcpyHostToDevice));

    sort_block<<<n / kBlock, kBlock>>>(d_keys);
    CHECK(cudaGetLastError());
    for (unsigned size = 2; size <= n; size <<= 1) {
        for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
            exchange_step<<<(n + 255) / 256, 256>>>(d_pair_keys, d_payload, n, stride, size);
        }
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sorted_blocks.data(), d_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(pair_keys.data(), d_pair_keys, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(payload.data(), d_payload, n * sizeof(short), cudaMemcpyDeviceToHost));
    cudaFree(d_keys);
    cudaFree(d_pair_keys);
    cudaFree(d_payload);

    for (unsigned b = 0; b < n / kBlock; ++b) {
        auto first = keys.begin() + b * kBlock;
        std::sort(first, first + kBlock);
        if (b % 2 == 1) std::reverse(first, first + kBlock);
    }
    int bad = keys == sorted_blocks ? 0 : 1;
    for (unsigned i = 0; i < n; ++i) {
        if (i > 0 && pair_keys[i - 1] > pair_keys[i]) ++bad;
        if (payload[i] != static_cast<short>(pair_keys[i] * 3)) ++bad;
    }
    printf("bitonic_sort n=%u: %s\n", n, bad == 0 ? "PASS" : "FAIL");
    return bad == 0 ? 0 : 1;
}
