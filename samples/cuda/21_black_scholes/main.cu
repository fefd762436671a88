// European option prices in closed form, and by a binomial tree in shared memory, in double.
// Usage: black_scholes [options]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define STEPS 63

// Cumulative normal distribution by a rational approximation, absolute error below 1e-7.
__host__ __device__ static double normal_cdf(double d) {
    const double a1 = 0.31938153, a2 = -0.356563782, a3 = 1.781477937, a4 = -1.821255978,
                 a5 = 1.330274429;
    const double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    const double tail = 0.39894228040143267794 * exp(-0.5 * d * d) *
                        (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    return d > 0.0 ? 1.0 - tail : tail;
}

__host__ __device__ static void price(double spot, double strike, double years, double rate,
                                      double sigma, double *call, double *put) {
    const double root = sqrt(years);
    const double d1 = (log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / (sigma * root);
    const double d2 = d1 - sigma * root;
    const double discount = exp(-rate * years);
    *call = spot * normal_cdf(d1) - strike * discount * normal_cdf(d2);
    *put = strike * discount * (1.0 - normal_cdf(d2)) - spot * (1.0 - normal_cdf(d1));
}

__global__ void black_scholes(const double *spot, const double *strike, const double *years,
                              double rate, double sigma, double *call, double *put, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    price(spot[i], strike[i], years[i], rate, sigma, &call[i], &put[i]);
}

// One option per block; thread t holds node t of the current level.
__global__ void binomial(const double *spot, const double *strike, const double *years, double rate,
                         double sigma, double *call) {
    __shared__ double level[STEPS + 1];
    const int option = blockIdx.x;
    const int t = threadIdx.x;
    const double dt = years[option] / STEPS;
    const double up = exp(sigma * sqrt(dt));
    const double down = 1.0 / up;
    const double grow = exp(rate * dt);
    const double p = (grow - down) / (up - down);

    double leaf = spot[option];
    for (int k = 0; k < t; ++k) leaf *= up;
    for (int k = t; k < STEPS; ++k) leaf *= down;
    level[t] = fmax(leaf - strike[option], 0.0);
    __syncthreads();

    for (int step = STEPS; step > 0; --step) {
        double next = 0.0;
        if (t < step) next = (p * level[t + 1] + (1.0 - p) * level[t]) / grow;
        __syncthreads();
        if (t < step) level[t] = next;
        __syncthreads();
    }
    if (t == 0) call[option] = level[0];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 777;
    const double rate = 0.02, sigma = 0.3;
    std::vector<double> spot(n), strike(n), years(n), call(n), put(n), tree(n);
    for (int i = 0; i < n; ++i) {
        spot[i] = 20.0 + i % 37;
        strike[i] = 15.0 + i % 53;
        years[i] = 0.25 + 0.05 * (i % 40);
    }
    double *d[6];
    for (double *&p : d) CHECK(cudaMalloc(&p, n * sizeof(double)));
    CHECK(cudaMemcpy(d[0], spot.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d[1], strike.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d[2], years.data(), n * sizeof(double), cudaMemcpyHostToDevice));

    black_scholes<<<(n + 127) / 128, 128>>>(d[0], d[1], d[2], rate, sigma, d[3], d[4], n);
    CHECK(cudaGetLastError());
    binomial<<<n, STEPS + 1>>>(d[0], d[1], d[2], rate, sigma, d[5]);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(call.data(), d[3], n * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(put.data(), d[4], n * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(tree.data(), d[5], n * sizeof(double), cudaMemcpyDeviceToHost));
    for (double *p : d) CHECK(cudaFree(p));

    double worst = 0.0, tree_gap = 0.0;
    for (int i = 0; i < n; ++i) {
        double want_call, want_put;
        price(spot[i], strike[i], years[i], rate, sigma, &want_call, &want_put);
        worst = std::fmax(worst, std::fabs(want_call - call[i]));
        worst = std::fmax(worst, std::fabs(want_put - put[i]));
        tree_gap = std::fmax(tree_gap, std::fabs(tree[i] - call[i]));
    }
    const bool ok = worst < 1e-9 && tree_gap < 0.2;
    printf("black_scholes %d options, max error %.2e, tree differs by %.3f: %s\n", n, worst,
           tree_gap, ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
