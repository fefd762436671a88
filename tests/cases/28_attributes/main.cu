#include <cuda_runtime.h>

constexpr int threads_for(int n) {
    return n * 32;
}

template <int N>
__launch_bounds__(threads_for(N), 4) __global__ void before(int *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += N;
}

template <int N>
static __global__ __launch_bounds__(threads_for(N)) void between(int *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] -= N;
}

extern "C" __global__ void __launch_bounds__(64) after(int *__restrict__ x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] ^= 5;
}

void __global__ reversed(int *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 3;
}

void run(int *x) {
    before<2><<<3, 64>>>(x);
    between<1><<<3, 32>>>(x);
    after<<<3, 64>>>(x);
    reversed<<<3, 48>>>(x);
}
