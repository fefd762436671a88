#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>

int multiply(int n, const float *a, const float *b, float *c) {
    cublasHandle_t handle;
    const float one = 1.0f, zero = 0.0f;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "no cuBLAS\n");
        return 1;
    }
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
    cudaDeviceSynchronize();
    cublasDestroy(handle);
    return 0;
}
