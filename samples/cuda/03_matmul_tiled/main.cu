// C = alpha * A * B + beta * C with square shared-memory tiles; ragged edges are zero filled.
// Usage: matmul_tiled [M N K]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define TILE 16

#define CHECK_CUDA(expr)                                                                \
    do {                                                                                \
        cudaError_t e = (expr);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "%s failed: %s\n", #expr, cudaGetErrorString(e));           \
            exit(EXIT_FAILURE);                                                         \
        }                                                                               \
    } while (0)

__global__ void sgemm_tiled(int M, int N, int K, float alpha, const float *__restrict__ A,
                            const float *__restrict__ B, float beta, float *__restrict__ C) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float acc = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        const int a_col = t * TILE + tx;
        const int b_row = t * TILE + ty;
        As[ty][tx] = (row < M && a_col < K) ? A[row * K + a_col] : 0.0f;
        Bs[ty][tx] = (b_row < K && col < N) ? B[b_row * N + col] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            acc += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }

    if (row < M && col < N) {
        C[row * N + col] = alpha * acc + beta * C[row * N + col];
    }
}

template <typename T>
class DeviceArray {
  public:
    explicit DeviceArray(const std::vector<T> &host) : size_(host.size()) {
        CHECK_CUDA(cudaMalloc(&data_, size_ * sizeof(T)));
        CHECK_CUDA(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray() { cudaFree(data_); }
    T *get() { return data_; }
    std::vector<T> download() const {
        std::vector<T> host(size_);
        CHECK_CUDA(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

int main(int argc, char **argv) {
    const int M = argc > 1 ? atoi(argv[1]) : 75;
    const int N = argc > 2 ? atoi(argv[2]) : 101;
    const int K = argc > 3 ? atoi(argv[3]) : 50;
    const float alpha = 1.5f, beta = 0.25f;

    std::vector<float> A(static_cast<size_t>(M) * K), B(static_cast<size_t>(K) * N),
        C(static_cast<size_t>(M) * N);
    unsigned state = 12345u;
    auto next = [&state]() {
        state = state * 1664525u + 1013904223u;
        return static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
    };
    for (float &v : A) v = next();
    for (float &v : B) v = next();
    for (float &v : C) v = next();

    DeviceArray<float> dA(A), dB(B), dC(C);
    const dim3 threads(TILE, TILE);
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    sgemm_tiled<<<blocks, threads>>>(M, N, K, alpha, dA.get(), dB.get(), beta, dC.get());
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    const std::vector<float> got = dC.download();
    double worst = 0.0;
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            double sum = 0.0;
            for (int k = 0; k < K; ++k) sum += static_cast<double>(A[i * K + k]) * B[k * N + j];
            const double want = alpha * sum + beta * C[i * N + j];
            worst = std::fmax(worst, std::fabs(want - got[i * N + j]));
        }
    }
    const bool ok = worst < 1e-4;
    std::printf("sgemm_tiled %dx%dx%d max error %.2e: %s\n", M, N, K, worst, ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
