// Jacobi iterations of the 2-D heat equation, direct and with a shared halo tile.
// Usage: stencil2d [nx ny steps]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t err = (call);                                                       \
        if (err != cudaSuccess) {                                                       \
            fprintf(stderr, "error at %d: %s\n", __LINE__, cudaGetErrorString(err));    \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define BX 16
#define BY 8
#define IDX(i, j) ((j) * nx + (i))

__global__ void heat_direct(const float *u, float *next, int nx, int ny, float r) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    if (i == 0 || j == 0 || i == nx - 1 || j == ny - 1) {
        next[IDX(i, j)] = u[IDX(i, j)];
        return;
    }
    const float centre = u[IDX(i, j)];
    next[IDX(i, j)] = centre + r * (u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] +
                                    u[IDX(i, j + 1)] - 4.0f * centre);
}

__global__ void heat_shared(const float *u, float *next, int nx, int ny, float r) {
    __shared__ float tile[BY + 2][BX + 2];
    const int i = blockIdx.x * BX + threadIdx.x;
    const int j = blockIdx.y * BY + threadIdx.y;
    const int ti = threadIdx.x + 1;
    const int tj = threadIdx.y + 1;
    const bool inside = i < nx && j < ny;

    if (inside) {
        tile[tj][ti] = u[IDX(i, j)];
        if (threadIdx.x == 0 && i > 0) tile[tj][0] = u[IDX(i - 1, j)];
        if (threadIdx.x == BX - 1 && i + 1 < nx) tile[tj][BX + 1] = u[IDX(i + 1, j)];
        if (threadIdx.y == 0 && j > 0) tile[0][ti] = u[IDX(i, j - 1)];
        if (threadIdx.y == BY - 1 && j + 1 < ny) tile[BY + 1][ti] = u[IDX(i, j + 1)];
    }
    __syncthreads();

    if (inside) {
        float value = tile[tj][ti];
        if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) {
            value += r * (tile[tj][ti - 1] + tile[tj][ti + 1] + tile[tj - 1][ti] +
                          tile[tj + 1][ti] - 4.0f * value);
        }
        next[IDX(i, j)] = value;
    }
}

static void heat_host(std::vector<float> &u, int nx, int ny, float r, int steps) {
    std::vector<float> next(u);
    for (int s = 0; s < steps; ++s) {
        for (int j = 1; j < ny - 1; ++j) {
            for (int i = 1; i < nx - 1; ++i) {
                next[IDX(i, j)] = u[IDX(i, j)] + r * (u[IDX(i - 1, j)] + u[IDX(i + 1, j)] +
                                                      u[IDX(i, j - 1)] + u[IDX(i, j + 1)] -
                                                      4.0f * u[IDX(i, j)]);
            }
        }
        std::swap(u, next);
    }
}

int main(int argc, char **argv) {
    const int nx = argc > 1 ? atoi(argv[1]) : 75;
    const int ny = argc > 2 ? atoi(argv[2]) : 53;
    const int steps = argc > 3 ? atoi(argv[3]) : 10;
    const float r = 0.2f;
    const size_t bytes = sizeof(float) * nx * ny;

    std::vector<float> u(nx * ny, 0.0f);
    for (int i = 0; i < nx; ++i) u[IDX(i, 0)] = 100.0f * (i % 5);
    for (int j = 0; j < ny; ++j) u[IDX(0, j)] = 50.0f;
    std::vector<float> want(u), direct(u), shared(u);
    heat_host(want, nx, ny, r, steps);

    float *a, *b;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    dim3 block(BX, BY);
    dim3 grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);

    CHECK(cudaMemcpy(a, u.data(), bytes, cudaMemcpyHostToDevice));
    for (int s = 0; s < steps; ++s) {
        heat_direct<<<grid, block>>>(a, b, nx, ny, r);
        CHECK(cudaGetLastError());
        std::swap(a, b);
    }
    CHECK(cudaMemcpy(direct.data(), a, bytes, cudaMemcpyDeviceToHost));

    CHECK(cudaMemcpy(a, u.data(), bytes, cudaMemcpyHostToDevice));
    for (int s = 0; s < steps; ++s) {
        heat_shared<<<grid, block>>>(a, b, nx, ny, r);
        CHECK(cudaGetLastError());
        std::swap(a, b);
    }
    CHECK(cudaMemcpy(shared.data(), a, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));

    float worst = 0.0f;
    for (int k = 0; k < nx * ny; ++k) {
        worst = fmaxf(worst, fabsf(direct[k] - want[k]));
        worst = fmaxf(worst, fabsf(shared[k] - want[k]));
    }
    const bool ok = worst < 1e-3f;
    printf("stencil2d %dx%d, %d steps, max error %g: %s\n", nx, ny, steps, worst,
           ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
