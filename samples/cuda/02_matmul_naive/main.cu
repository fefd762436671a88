// C = A * B with one thread per element of C (row-major, any M, N, K).
// Usage: matmul_naive [M N K]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t status = (call);                                                    \
        if (status != cudaSuccess) {                                                    \
            fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(status),   \
                    __LINE__);                                                          \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + col];
        }
        C[row * N + col] = sum;
    }
}

static void matmul_host(const std::vector<float> &a, const std::vector<float> &b,
                        std::vector<double> &c, int m, int n, int k) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int p = 0; p < k; ++p) {
                sum += static_cast<double>(a[i * k + p]) * b[p * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}

int main(int argc, char **argv) {
    int M = 130, N = 94, K = 77;
    if (argc == 4) {
        M = atoi(argv[1]);
        N = atoi(argv[2]);
        K = atoi(argv[3]);
    }
    std::vector<float> A(M * K), B(K * N), C(M * N);
    for (size_t i = 0; i < A.size(); ++i) A[i] = static_cast<float>(i % 13) * 0.125f - 0.5f;
    for (size_t i = 0; i < B.size(); ++i) B[i] = static_cast<float>(i % 17) * 0.0625f - 0.25f;

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc((void **)&d_A, sizeof(float) * M * K));
    CHECK(cudaMalloc((void **)&d_B, sizeof(float) * K * N));
    CHECK(cudaMalloc((void **)&d_C, sizeof(float) * M * N));
    CHECK(cudaMemcpy(d_A, A.data(), sizeof(float) * M * K, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B.data(), sizeof(float) * K * N, cudaMemcpyHostToDevice));

    dim3 block(16, 16);
    dim3 grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y);
    matmul<<<grid, block>>>(d_A, d_B, d_C, M, N, K);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(C.data(), d_C, sizeof(float) * M * N, cudaMemcpyDeviceToHost));

    std::vector<double> want(M * N);
    matmul_host(A, B, want, M, N, K);
    double worst = 0.0;
    for (int i = 0; i < M * N; ++i) {
        worst = fmax(worst, fabs(want[i] - C[i]) / (1.0 + fabs(want[i])));
    }
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    const bool ok = worst < 1e-4;
    printf("matmul %dx%dx%d max error %.2e: %s\n", M, N, K, worst, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
