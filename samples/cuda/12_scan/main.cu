// Exclusive prefix sum of n integers: Blelloch scan per block, scan of the block sums (inclusive,
// Hillis-Steele), then the block offsets are added.
// Usage: scan [n <= 65536]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));          \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define THREADS 64
#define ELEMENTS (2 * THREADS)

__global__ void scan_blocks(const int *in, int *out, int *block_sums, int n) {
    __shared__ int temp[ELEMENTS];
    const int tid = threadIdx.x;
    const int base = blockIdx.x * ELEMENTS;
    const int a = base + 2 * tid;
    const int b = a + 1;

    temp[2 * tid] = a < n ? in[a] : 0;
    temp[2 * tid + 1] = b < n ? in[b] : 0;

    int offset = 1;
    for (int d = THREADS; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1;
            int bi = offset * (2 * tid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }

    if (tid == 0) {
        block_sums[blockIdx.x] = temp[ELEMENTS - 1];
        temp[ELEMENTS - 1] = 0;
    }

    for (int d = 1; d < ELEMENTS; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1;
            int bi = offset * (2 * tid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();

    if (a < n) out[a] = temp[2 * tid];
    if (b < n) out[b] = temp[2 * tid + 1];
}

__global__ void scan_sums(int *sums, int count) {
    extern __shared__ int buffer[];
    int *from = buffer;
    int *to = buffer + blockDim.x;
    const unsigned tid = threadIdx.x;

    to[tid] = tid < count ? sums[tid] : 0;
    __syncthreads();

    int in = 1, out = 0;
    for (unsigned step = 1; step < blockDim.x; step <<= 1) {
        in = 1 - in;
        out = 1 - out;
        const int *src = buffer + (in == 0 ? blockDim.x : 0);
        int *dst = buffer + (out == 0 ? blockDim.x : 0);
        if (tid >= step) {
            dst[tid] = src[tid] + src[tid - step];
        } else {
            dst[tid] = src[tid];
        }
        __syncthreads();
    }
    from = buffer + (out == 0 ? blockDim.x : 0);
    if (tid < count) sums[tid] = from[tid];
}

__global__ void add_offsets(int *data, const int *sums, int n) {
    const int block = blockIdx.x;
    if (block == 0) return;
    const int offset = sums[block - 1];
    for (int k = threadIdx.x; k < ELEMENTS; k += blockDim.x) {
        const int i = block * ELEMENTS + k;
        if (i < n) data[i] += offset;
    }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 10007;
    const int blocks = (n + ELEMENTS - 1) / ELEMENTS;
    int scan_threads = 1;
    while (scan_threads < blocks) scan_threads *= 2;
    if (n <= 0 || scan_threads > 1024) {
        fprintf(stderr, "n must be between 1 and %d\n", 1024 * ELEMENTS);
        return 2;
    }

    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 7919) % 101 - 40;

    int *d_in, *d_out, *d_sums;
    CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CHECK(cudaMalloc(&d_sums, blocks * sizeof(int)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    scan_blocks<<<blocks, THREADS>>>(d_in, d_out, d_sums, n);
    CHECK(cudaGetLastError());
    scan_sums<<<1, scan_threads, 2 * scan_threads * sizeof(int)>>>(d_sums, blocks);
    CHECK(cudaGetLastError());
    add_offsets<<<blocks, THREADS>>>(d_out, d_sums, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));

    int bad = 0, running = 0;
    for (int i = 0; i < n; ++i) {
        if (out[i] != running) ++bad;
        running += in[i];
    }
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_sums);
    printf("scan n=%d: %s\n", n, bad == 0 ? "PASS" : "FAIL");
    return bad == 0 ? 0 : 1;
}
