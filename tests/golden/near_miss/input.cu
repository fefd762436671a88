// Looks like a matrix product, but the loop starts at 1, and the sum is kept in C itself.
__global__ void wrong_bound(const float *A, const float *B, float *C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 1; k < n; k += 2) sum += A[row * n + k] * B[k * n + col];
        C[row * n + col] = sum;
    }
}

// Each step multiplies the running value: no sum of products.
__global__ void not_associative(const float *A, const float *B, float *C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum = sum * A[row * n + k] + B[k * n + col];
        C[row * n + col] = sum;
    }
}

// Leaves the loop early.
__global__ void early_exit(const float *A, const float *B, float *C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) {
            if (A[row * n + k] < 0.0f) break;
            sum += A[row * n + k] * B[k * n + col];
        }
        C[row * n + col] = sum;
    }
}

// Reads what other threads write.
__global__ void in_place(float *A, const float *B, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
        A[row * n + col] = sum;
    }
}

void run(float *A, const float *B, float *C, int n) {
    dim3 block(8, 8), grid((n + 7) / 8, (n + 7) / 8);
    wrong_bound<<<grid, block>>>(A, B, C, n);
    not_associative<<<grid, block>>>(A, B, C, n);
    early_exit<<<grid, block>>>(A, B, C, n);
    in_place<<<grid, block>>>(A, B, n);
}
