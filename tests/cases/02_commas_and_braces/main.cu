#include <cuda_runtime.h>

#define KERNEL fill<int, float>
#define CONFIG dim3{2, 3}, threads(8, 4)
#define ARGS (p, q, 7)

static int threads(int a, int b) {
    return a * b;
}

template <typename A, typename B>
__global__ void fill(A *p, B *q, int n) {
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i] = static_cast<A>(i * 3);
        q[i] = static_cast<B>(i) / 4;
    }
}

void run(int *p, float *q) {
    fill<int, float><<<dim3{2, 3}, threads(8, 4)>>>(p, q, 150);
    KERNEL<<<CONFIG>>> ARGS;
    fill<unsigned, double><<<dim3(threads(1, 2), 2), threads(16, (2, 3))>>>(
        reinterpret_cast<unsigned *>(p), reinterpret_cast<double *>(q), threads(5, 6));
}
