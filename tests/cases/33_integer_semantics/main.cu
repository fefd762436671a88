#include <cuda_runtime.h>

// A zero divisor in one lane does not stop a GPU; the lane's value is unspecified and unused here.
__global__ void divide(const int *a, const int *b, int *quotient, int *remainder, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int q = a[i] / b[i];
    int r = a[i] % b[i];
    quotient[i] = b[i] != 0 ? q : 0;
    remainder[i] = b[i] != 0 ? r : 0;
}

__global__ void wrap(const unsigned *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int flags = 0;
    if (a[i] - 1u < a[i]) flags |= 1;
    if (a[i] > b[i]) flags |= 2;
    if (static_cast<unsigned char>(b[i]) < static_cast<signed char>(a[i])) flags |= 4;
    short narrow = static_cast<short>(b[i] * 3);
    unsigned long long wide = static_cast<unsigned long long>(b[i]) * a[i];
    out[3 * i] = flags;
    out[3 * i + 1] = narrow >> 2;
    out[3 * i + 2] = static_cast<int>(wide >> 32);
}

__global__ void shifts(const int *a, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned by = static_cast<unsigned>(a[i]) & 31u;
    out[2 * i] = (a[i] >> by) ^ (a[i] << (31u - by));
    out[2 * i + 1] = static_cast<int>(static_cast<unsigned>(a[i]) >> by);
}

__global__ void floats(const float *x, const double *y, float *f, double *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float t = (v + 1.0e8f) - v;
    f[2 * i] = v != v ? -1.0f : t;
    f[2 * i + 1] = v < 0.0f ? 1.0f : (v >= 0.0f ? 2.0f : 3.0f);
    d[2 * i] = y[i] * 0.12345678901234567 + 1.2345678901234567e-3;
    d[2 * i + 1] = 3.141592653589793 * v + 1.0f / 3;
}

__global__ void order(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    int w = 0;
    if (v > 0 && (w = v * 2) > 10 || (w += 5) == 5) w |= 1 << 20;
    int z = (v++, v * 2);
    int k = v > 3 ? v-- : ++v;
    x[i] = w + z * 31 + k * 1000 + (v += k);
}

void run(int *a, int *b, unsigned *u, int *out, float *x, double *y, int n) {
    int blocks = (n + 63) / 64;
    divide<<<blocks, 64>>>(a, b, out, out + n, n);
    wrap<<<blocks, 64>>>(u, b, out, n);
    shifts<<<blocks, 64>>>(a, out, n);
    floats<<<blocks, 64>>>(x, y, x + n, y + n, n);
    order<<<blocks, 64>>>(a, n);
}
