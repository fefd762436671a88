#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define STR(x) #x
#define CHECK_AT(call, file, line)                                      \
    do {                                                                \
        cudaError_t e = (call);                                         \
        if (e != cudaSuccess) {                                         \
            fprintf(stderr, "%s:%d %s %s\n", file, line, STR(call),     \
                    cudaGetErrorString(e));                             \
            abort();                                                    \
        }                                                               \
    } while (0)
#define CHECK(call) CHECK_AT(call, __FILE__, __LINE__)
#define WITH_BUFFER(p, bytes, ...)    \
    do {                              \
        CHECK(cudaMalloc(&p, bytes)); \
        __VA_ARGS__;                  \
        CHECK(cudaFree(p));           \
    } while (0)

__global__ void negate(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = -x[i];
}

void run(float *host, int n) {
    float *p;
    CHECK(cudaMemcpy(host, host, n, cudaMemcpyHostToHost)); CHECK(cudaDeviceSynchronize());
    WITH_BUFFER(p, n * sizeof(float), {
        CHECK(cudaMemcpy(p, host, n * sizeof(float), cudaMemcpyHostToDevice));
        negate<<<(n + 255) / 256, 256>>>(p, n);
        CHECK(cudaMemcpy(host, p, n * sizeof(float), cudaMemcpyDeviceToHost));
    });
}
