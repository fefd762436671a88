// Dot products with a grid-stride loop, a block reduction and one atomicAdd per block, for int and
// float data.
// Usage: dot [n]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

static void check(cudaError_t status, const char *what, int line) {
    if (status != cudaSuccess) {
        fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(status));
        exit(1);
    }
}
#define CHECK(call) check((call), #call, __LINE__)

constexpr int BLOCK = 128;

__global__ void dot_int(const int *a, const int *b, int n, unsigned long long *result) {
    __shared__ long long cache[BLOCK];
    long long local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        local += static_cast<long long>(a[i]) * b[i];
    }
    cache[threadIdx.x] = local;
    __syncthreads();
    for (int offset = BLOCK / 2; offset > 0; offset /= 2) {
        if (threadIdx.x < offset) cache[threadIdx.x] += cache[threadIdx.x + offset];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(result, static_cast<unsigned long long>(cache[0]));
    }
}

__global__ void dot_float(const float *a, const float *b, int n, float *result) {
    __shared__ float cache[BLOCK];
    const int stride = blockDim.x * gridDim.x;
    float local = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        local += a[i] * b[i];
    }
    cache[threadIdx.x] = local;
    __syncthreads();
    int half = BLOCK / 2;
    while (half != 0) {
        if (threadIdx.x < half) {
            cache[threadIdx.x] += cache[threadIdx.x + half];
        }
        __syncthreads();
        half /= 2;
    }
    if (threadIdx.x == 0) atomicAdd(result, cache[0]);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 70001;
    int *ia, *ib;
    float *fa, *fb, *fsum;
    unsigned long long *isum;
    CHECK(cudaMallocManaged(&ia, n * sizeof(int)));
    CHECK(cudaMallocManaged(&ib, n * sizeof(int)));
    CHECK(cudaMallocManaged(&fa, n * sizeof(float)));
    CHECK(cudaMallocManaged(&fb, n * sizeof(float)));
    CHECK(cudaMallocManaged(&isum, sizeof(unsigned long long)));
    CHECK(cudaMallocManaged(&fsum, sizeof(float)));

    long long want_int = 0;
    double want_float = 0.0;
    for (int i = 0; i < n; ++i) {
        ia[i] = i * 37 % 2001 - 1000;
        ib[i] = i * 91 % 1501 - 750;
        fa[i] = ia[i] / 1000.0f;
        fb[i] = ib[i] / 750.0f;
        want_int += static_cast<long long>(ia[i]) * ib[i];
        want_float += static_cast<double>(fa[i]) * fb[i];
    }
    *isum = 0;
    *fsum = 0.0f;

    int blocks = (n + BLOCK - 1) / BLOCK;
    if (blocks > 40) blocks = 40;
    dot_int<<<blocks, BLOCK>>>(ia, ib, n, isum);
    CHECK(cudaGetLastError());
    dot_float<<<blocks, BLOCK>>>(fa, fb, n, fsum);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    const long long got_int = static_cast<long long>(*isum);
    const double got_float = *fsum;
    const bool ok = got_int == want_int && std::fabs(got_float - want_float) < 0.05;
    printf("dot n=%d int %lld float %.4f: %s\n", n, got_int, got_float, ok ? "PASS" : "FAIL");
    cudaFree(ia);
    cudaFree(ib);
    cudaFree(fa);
    cudaFree(fb);
    cudaFree(isum);
    cudaFree(fsum);
    return ok ? 0 : 1;
}
