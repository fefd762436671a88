// Kernel templates over float, double and int with an integer parameter, device functions and
// functors; launched through a templated host function.
// Usage: templates [n]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "%s\n", cudaGetErrorString(e));                             \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

namespace ops {

template <typename T>
struct Add {
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T>
struct ClampedDifference {
    T limit;
    __host__ __device__ T operator()(T a, T b) const {
        const T d = a - b;
        if (d > limit) return limit;
        if (d < -limit) return -limit;
        return d;
    }
};

template <typename T>
__host__ __device__ inline T square(const T &v) {
    return v * v;
}

}  // namespace ops

template <typename T, int ITEMS, typename Op>
__global__ void zip(const T *a, const T *b, T *out, int n, Op op) {
    const int base = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const int i = base + k;
        if (i < n) out[i] = op(a[i], b[i]);
    }
}

template <typename T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK) block_norm2(const T *in, T *out, int n) {
    __shared__ T scratch[BLOCK];
    T local = T(0);
    for (unsigned i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        local += ops::square(in[i]);
    }
    scratch[threadIdx.x] = local;
    __syncthreads();
    for (unsigned s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = scratch[0];
}

template <typename T>
static bool run(const char *name, int n) {
    constexpr int kItems = sizeof(T) == 8 ? 2 : 4;
    constexpr unsigned kBlock = 64;
    constexpr int kGrid = 6;
    std::vector<T> a(n), b(n), sum(n), diff(n), partial(kGrid);
    for (int i = 0; i < n; ++i) {
        a[i] = static_cast<T>(i % 31) - static_cast<T>(15);
        b[i] = static_cast<T>((i * 5) % 23) - static_cast<T>(11);
    }
    T *d_a, *d_b, *d_sum, *d_diff, *d_partial;
    CHECK(cudaMalloc(&d_a, n * sizeof(T)));
    CHECK(cudaMalloc(&d_b, n * sizeof(T)));
    CHECK(cudaMalloc(&d_sum, n * sizeof(T)));
    CHECK(cudaMalloc(&d_diff, n * sizeof(T)));
    CHECK(cudaMalloc(&d_partial, kGrid * sizeof(T)));
    CHECK(cudaMemcpy(d_a, a.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), n * sizeof(T), cudaMemcpyHostToDevice));

    const ops::ClampedDifference<T> clamp{static_cast<T>(9)};
    const int threads = 96;
    const int blocks = (n + threads * kItems - 1) / (threads * kItems);
    zip<T, kItems><<<blocks, threads>>>(d_a, d_b, d_sum, n, ops::Add<T>());
    CHECK(cudaGetLastError());
    zip<T, kItems, ops::ClampedDifference<T>><<<blocks, threads>>>(d_a, d_b, d_diff, n, clamp);
    CHECK(cudaGetLastError());
    block_norm2<T, kBlock><<<kGrid, kBlock>>>(d_sum, d_partial, n);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(sum.data(), d_sum, n * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(diff.data(), d_diff, n * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(partial.data(), d_partial, kGrid * sizeof(T), cudaMemcpyDeviceToHost));
    for (T *p : {d_a, d_b, d_sum, d_diff, d_partial}) CHECK(cudaFree(p));

    int bad = 0;
    double want = 0.0, got = 0.0;
    for (int i = 0; i < n; ++i) {
        if (sum[i] != ops::Add<T>()(a[i], b[i])) ++bad;
        if (diff[i] != clamp(a[i], b[i])) ++bad;
        want += static_cast<double>(sum[i]) * static_cast<double>(sum[i]);
    }
    for (T p : partial) got += static_cast<double>(p);
    if (std::fabs(got - want) > 1e-5 * want) ++bad;
    printf("  %-6s %s\n", name, bad == 0 ? "ok" : "wrong");
    return bad == 0;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 5003;
    bool ok = run<float>("float", n);
    ok = run<double>("double", n) && ok;
    ok = run<int>("int", n) && ok;
    printf("templates n=%d: %s\n", n, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
