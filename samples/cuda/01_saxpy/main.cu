// y = a * x + y over n floats, then the scaled sum of two vectors into a third.
// Usage: saxpy [n]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                \
    do {                                                                                \
        cudaError_t err_ = (call);                                                      \
        if (err_ != cudaSuccess) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                     \
                         cudaGetErrorString(err_));                                     \
            std::exit(EXIT_FAILURE);                                                    \
        }                                                                               \
    } while (0)

constexpr int kThreads = 256;

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

__global__ void scaled_sum(int n, float a, float b, const float *__restrict__ x,
                           const float *__restrict__ y, float *__restrict__ z) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        z[i] = a * x[i] + b * y[i];
    }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 100003;
    const float a = 2.5f, b = -0.75f;
    if (n <= 0) {
        std::fprintf(stderr, "usage: %s [n > 0]\n", argv[0]);
        return 2;
    }

    std::vector<float> x(n), y(n), z(n);
    for (int i = 0; i < n; ++i) {
        x[i] = 0.001f * static_cast<float>(i % 1000);
        y[i] = 1.0f - 0.5f * static_cast<float>(i % 7);
    }

    float *d_x = nullptr, *d_y = nullptr, *d_z = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_z, n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    const int blocks = (n + kThreads - 1) / kThreads;
    saxpy<<<blocks, kThreads>>>(n, a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    scaled_sum<<<32, kThreads>>>(n, a, b, d_x, d_y, d_z);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> got_y(n);
    CUDA_CHECK(cudaMemcpy(got_y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(z.data(), d_z, n * sizeof(float), cudaMemcpyDeviceToHost));

    int bad = 0;
    for (int i = 0; i < n; ++i) {
        const float want_y = a * x[i] + y[i];
        const float want_z = a * x[i] + b * got_y[i];
        if (std::fabs(got_y[i] - want_y) > 1e-5f || std::fabs(z[i] - want_z) > 1e-5f) {
            ++bad;
        }
    }
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    CUDA_CHECK(cudaFree(d_z));
    std::printf("saxpy n=%d: %s\n", n, bad == 0 ? "PASS" : "FAIL");
    return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
