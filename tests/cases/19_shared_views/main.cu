#include <cuda_runtime.h>

template <typename T>
__global__ void rotate(const T *in, T *out, int n) {
    extern __shared__ __align__(8) unsigned char buf[];
    T *s = (T *)buf;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    if (i < n) out[i] = s[(threadIdx.x + 1) % blockDim.x];
}

__global__ void two_views(const int *keys, const double *values, double *out, int n) {
    extern __shared__ double storage[];
    double *v = storage;
    int *k = (int *)(storage + blockDim.x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    v[threadIdx.x] = i < n ? values[i] : 0.0;
    k[threadIdx.x] = i < n ? keys[i] : 0;
    __syncthreads();
    int other = blockDim.x - 1 - threadIdx.x;
    if (i < n) out[i] = v[other] * k[other];
}

void run(float *fi, float *fo, double *di, double *dout, int *keys, int n) {
    int blocks = (n + 63) / 64;
    rotate<float><<<blocks, 64, 64 * sizeof(float)>>>(fi, fo, n);
    rotate<double><<<blocks, 64, 64 * sizeof(double)>>>(di, dout, n);
    two_views<<<blocks, 64, 64 * (sizeof(double) + sizeof(int))>>>(keys, di, dout, n);
}
