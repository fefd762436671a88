// One step of a 3-D wave equation: a 7-point stencil on a 3-D launch, and a variant that marches
// along z with values in registers.
// Usage: stencil3d [nx ny nz]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_TRY(call)                                                                  \
    if (cudaError_t err = (call); err != cudaSuccess) {                                 \
        fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(err));                    \
        exit(1);                                                                        \
    }

struct Shape {
    int nx, ny, nz;
};

__device__ __forceinline__ size_t at(int x, int y, int z, int nx, int ny) {
    return (static_cast<size_t>(z) * ny + y) * nx + x;
}

__global__ void wave_step(const double *cur, const double *old, double *out, int nx, int ny, int nz,
                          double c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) {
        return;
    }
    size_t p = at(x, y, z, nx, ny);
    double lap = cur[p - 1] + cur[p + 1] + cur[p - nx] + cur[p + nx] + cur[p - (size_t)nx * ny] +
                 cur[p + (size_t)nx * ny] - 6.0 * cur[p];
    out[p] = 2.0 * cur[p] - old[p] + c * lap;
}

__global__ void wave_step_march(const double *cur, const double *old, double *out, Shape s,
                                double c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= s.nx - 1 || y >= s.ny - 1) return;

    double below = cur[at(x, y, 0, s.nx, s.ny)];
    double here = cur[at(x, y, 1, s.nx, s.ny)];
    for (int z = 1; z < s.nz - 1; ++z) {
        const size_t p = at(x, y, z, s.nx, s.ny);
        const double above = cur[at(x, y, z + 1, s.nx, s.ny)];
        const double lap = cur[p - 1] + cur[p + 1] + cur[p - s.nx] + cur[p + s.nx] + below + above -
                           6.0 * here;
        out[p] = 2.0 * here - old[p] + c * lap;
        below = here;
        here = above;
    }
}

int main(int argc, char **argv) {
    Shape s{22, 17, 13};
    if (argc == 4) s = Shape{atoi(argv[1]), atoi(argv[2]), atoi(argv[3])};
    const size_t count = static_cast<size_t>(s.nx) * s.ny * s.nz;
    const size_t bytes = count * sizeof(double);
    const double c = 0.1;

    std::vector<double> cur(count), old(count), want(count, 0.0), got(count), marched(count);
    for (size_t i = 0; i < count; ++i) {
        cur[i] = std::sin(0.01 * static_cast<double>(i));
        old[i] = std::cos(0.02 * static_cast<double>(i));
    }
    for (int z = 1; z < s.nz - 1; ++z) {
        for (int y = 1; y < s.ny - 1; ++y) {
            for (int x = 1; x < s.nx - 1; ++x) {
                const size_t p = (static_cast<size_t>(z) * s.ny + y) * s.nx + x;
                const size_t plane = static_cast<size_t>(s.nx) * s.ny;
                const double lap = cur[p - 1] + cur[p + 1] + cur[p - s.nx] + cur[p + s.nx] +
                                   cur[p - plane] + cur[p + plane] - 6.0 * cur[p];
                want[p] = 2.0 * cur[p] - old[p] + c * lap;
            }
        }
    }

    double *d_cur, *d_old, *d_out;
    CUDA_TRY(cudaMalloc(&d_cur, bytes));
    CUDA_TRY(cudaMalloc(&d_old, bytes));
    CUDA_TRY(cudaMalloc(&d_out, bytes));
    CUDA_TRY(cudaMemcpy(d_cur, cur.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(d_old, old.data(), bytes, cudaMemcpyHostToDevice));

    CUDA_TRY(cudaMemset(d_out, 0, bytes));
    dim3 block(8, 4, 4);
    dim3 grid((s.nx + 7) / 8, (s.ny + 3) / 4, (s.nz + 3) / 4);
    wave_step<<<grid, block>>>(d_cur, d_old, d_out, s.nx, s.ny, s.nz, c);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(got.data(), d_out, bytes, cudaMemcpyDeviceToHost));

    CUDA_TRY(cudaMemset(d_out, 0, bytes));
    wave_step_march<<<dim3((s.nx + 15) / 16, (s.ny + 7) / 8), dim3(16, 8)>>>(d_cur, d_old, d_out, s,
                                                                            c);
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaMemcpy(marched.data(), d_out, bytes, cudaMemcpyDeviceToHost));

    double worst = 0.0;
    for (size_t i = 0; i < count; ++i) {
        worst = std::fmax(worst, std::fabs(got[i] - want[i]));
        worst = std::fmax(worst, std::fabs(marched[i] - want[i]));
    }
    cudaFree(d_cur);
    cudaFree(d_old);
    cudaFree(d_out);
    printf("stencil3d %dx%dx%d max error %.2e: %s\n", s.nx, s.ny, s.nz, worst,
           worst < 1e-12 ? "PASS" : "FAIL");
    return worst < 1e-12 ? 0 : 1;
}
