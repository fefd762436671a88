#include <cuda_runtime.h>

// Reads and writes the same elements.
__global__ void in_place(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * x[i] + 1.0f;
}

// Launched with out = in + 1: a thread may see what its neighbour wrote.
__global__ void shift_right(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}

// Says __restrict__ and is launched with both pointers equal.
__global__ void restrict_lie(const float *__restrict__ a, float *__restrict__ b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * 0.5f;
}

// A matrix product that overwrites its own operand: each thread reads what others write.
__global__ void matmul_in_place(float *A, const float *B, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
        A[row * n + col] = sum;
    }
}

void run(float *x, int *k, float *A, const float *B, int n) {
    in_place<<<(n + 63) / 64, 64>>>(x, n);
    shift_right<<<(n + 63) / 64, 64>>>(k, k + 1, n);
    restrict_lie<<<(n + 63) / 64, 64>>>(x, x, n);
    matmul_in_place<<<dim3((n + 7) / 8, (n + 7) / 8), dim3(8, 8)>>>(A, B, n);
}
