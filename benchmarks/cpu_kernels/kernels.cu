// CUDA kernels of the benchmark, as one writes them for a GPU. Built twice: with VARIANT=kept and
// VARIANT=migrated, the namespace that they are in.
#include <cuda_runtime.h>

#include <cmath>

#include "problem.h"

#ifndef VARIANT
#define VARIANT migrated
#endif

namespace VARIANT {

constexpr int TILE = 16;     // threads of a side in matmul_tiled
constexpr int BLOCK = 256;   // threads of a reduction or scan
constexpr int ITEMS = 8;     // elements of a thread in scan_blocks
constexpr int SQUARE = 32;   // of transpose: 32 x 8 threads
constexpr int BINS = 256;
constexpr int BODIES = 128;  // bodies of a tile, and threads
constexpr int RADIUS = 2;

static unsigned blocks(int n, int each) { return (n + each - 1) / each; }

__global__ void saxpy_kernel(int n, float a, const float *x, const float *y, float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}

void saxpy(const Problem &p) {
    saxpy_kernel<<<blocks(p.n[0], 256), 256>>>(p.n[0], p.value, (const float *)p.in[0], (const float *)p.in[1],
                                               (float *)p.out[0]);
}

__global__ void heat2d_kernel(const float *u, float *next, int nx, int ny, float r) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    const int at = j * nx + i;
    if (i == 0 || j == 0 || i == nx - 1 || j == ny - 1) {
        next[at] = u[at];
        return;
    }
    const float centre = u[at];
    next[at] = centre + r * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] - 4.0f * centre);
}

void heat2d(const Problem &p) {
    const dim3 block(32, 8), grid(blocks(p.n[0], 32), blocks(p.n[1], 8));
    heat2d_kernel<<<grid, block>>>((const float *)p.in[0], (float *)p.out[0], p.n[0], p.n[1], p.value);
}

__global__ void stencil3d_kernel(const float *in, float *out, int nx, int ny, int nz, float c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
        const int plane = nx * ny, at = z * plane + y * nx + x;
        out[at] = in[at] + c * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - plane] +
                                in[at + plane] - 6.0f * in[at]);
    }
}

void stencil3d(const Problem &p) {
    const dim3 block(32, 4, 2), grid(blocks(p.n[0], 32), blocks(p.n[1], 4), blocks(p.n[2], 2));
    stencil3d_kernel<<<grid, block>>>((const float *)p.in[0], (float *)p.out[0], p.n[0], p.n[1], p.n[2], p.value);
}

__global__ void matmul_naive_kernel(const float *a, const float *b, float *c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}

void matmul_naive(const Problem &p) {
    const dim3 block(16, 16), grid(blocks(p.n[1], 16), blocks(p.n[0], 16));
    matmul_naive_kernel<<<grid, block>>>((const float *)p.in[0], (const float *)p.in[1], (float *)p.out[0], p.n[0],
                                         p.n[1], p.n[2]);
}

__global__ void matmul_tiled_kernel(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        as[ty][tx] = row < m && t * TILE + tx < k ? a[row * k + t * TILE + tx] : 0.0f;
        bs[ty][tx] = t * TILE + ty < k && col < n ? b[(t * TILE + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

void matmul_tiled(const Problem &p) {
    const dim3 block(TILE, TILE), grid(blocks(p.n[1], TILE), blocks(p.n[0], TILE));
    matmul_tiled_kernel<<<grid, block>>>((const float *)p.in[0], (const float *)p.in[1], (float *)p.out[0], p.n[0],
                                         p.n[1], p.n[2]);
}

__global__ void reduce_blocks_kernel(const float *in, float *out, int n) {
    __shared__ float partial[BLOCK];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * (2 * BLOCK) + tid;
    float sum = i < n ? in[i] : 0.0f;
    if (i + BLOCK < n) sum += in[i + BLOCK];
    partial[tid] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce_blocks(const Problem &p) {
    reduce_blocks_kernel<<<blocks(p.n[0], 2 * BLOCK), BLOCK>>>((const float *)p.in[0], (float *)p.out[0], p.n[0]);
}

__global__ void scan_blocks_kernel(const int *in, int *out, int *sums, int n) {
    __shared__ int totals[BLOCK];
    const int tid = threadIdx.x;
    const int first = (blockIdx.x * BLOCK + tid) * ITEMS;
    int own = 0;
    for (int k = 0; k < ITEMS; ++k)
        if (first + k < n) own += in[first + k];
    totals[tid] = own;
    __syncthreads();
    for (int offset = 1; offset < BLOCK; offset *= 2) {
        const int left = tid >= offset ? totals[tid - offset] : 0;
        __syncthreads();
        totals[tid] += left;
        __syncthreads();
    }
    int sum = totals[tid] - own;
    for (int k = 0; k < ITEMS; ++k)
        if (first + k < n) {
            sum += in[first + k];
            out[first + k] = sum;
        }
    if (tid == BLOCK - 1) sums[blockIdx.x] = totals[tid];
}

void scan_blocks(const Problem &p) {
    scan_blocks_kernel<<<blocks(p.n[0], BLOCK * ITEMS), BLOCK>>>((const int *)p.in[0], (int *)p.out[0],
                                                                 (int *)p.out[1], p.n[0]);
}

__global__ void transpose_kernel(const float *in, float *out, int width, int height) {
    __shared__ float tile[SQUARE][SQUARE + 1];
    int x = blockIdx.x * SQUARE + threadIdx.x;
    int y = blockIdx.y * SQUARE + threadIdx.y;
    for (int j = 0; j < SQUARE; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * SQUARE + threadIdx.x;
    y = blockIdx.x * SQUARE + threadIdx.y;
    for (int j = 0; j < SQUARE; j += 8)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

void transpose(const Problem &p) {
    const dim3 block(SQUARE, 8), grid(blocks(p.n[0], SQUARE), blocks(p.n[1], SQUARE));
    transpose_kernel<<<grid, block>>>((const float *)p.in[0], (float *)p.out[0], p.n[0], p.n[1]);
}

__global__ void histogram_kernel(const unsigned char *data, unsigned *bins, int n) {
    __shared__ unsigned local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

void histogram(const Problem &p) {
    histogram_kernel<<<128, 256>>>((const unsigned char *)p.in[0], (unsigned *)p.out[0], p.n[0]);
}

__global__ void nbody_kernel(const float4 *bodies, float4 *acceleration, int n, float softening) {
    __shared__ float4 tile[BODIES];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 mine = i < n ? bodies[i] : zero;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int start = 0; start < n; start += BODIES) {
        const int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : zero;
        __syncthreads();
        for (int k = 0; k < BODIES; ++k) {
            const float dx = tile[k].x - mine.x, dy = tile[k].y - mine.y, dz = tile[k].z - mine.z;
            const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float s = tile[k].w * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    if (i < n) acceleration[i] = make_float4(ax, ay, az, 0.0f);
}

void nbody(const Problem &p) {
    nbody_kernel<<<blocks(p.n[0], BODIES), BODIES>>>((const float4 *)p.in[0], (float4 *)p.out[0], p.n[0], p.value);
}

__device__ float block_max(float value, float *scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
        __syncthreads();
    }
    const float result = scratch[0];
    __syncthreads();
    return result;
}

__device__ float block_sum(float value, float *scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    const float result = scratch[0];
    __syncthreads();
    return result;
}

__global__ void softmax_rows_kernel(const float *in, float *out, int cols) {
    __shared__ float scratch[BLOCK];
    const float *x = in + blockIdx.x * cols;
    float *y = out + blockIdx.x * cols;
    float peak = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += BLOCK) peak = fmaxf(peak, x[c]);
    peak = block_max(peak, scratch);
    float total = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float e = expf(x[c] - peak);
        y[c] = e;
        total += e;
    }
    total = block_sum(total, scratch);
    for (int c = threadIdx.x; c < cols; c += BLOCK) y[c] = y[c] / total;
}

void softmax_rows(const Problem &p) {
    softmax_rows_kernel<<<p.n[0], BLOCK>>>((const float *)p.in[0], (float *)p.out[0], p.n[1]);
}

__global__ void layernorm_kernel(const float *in, const float *gamma, const float *beta, float *out, int cols,
                                 float eps) {
    __shared__ float scratch[BLOCK];
    const float *x = in + blockIdx.x * cols;
    float *y = out + blockIdx.x * cols;
    float s = 0.0f, q = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        s += x[c];
        q += x[c] * x[c];
    }
    const float mean = block_sum(s, scratch) / cols;
    const float variance = block_sum(q, scratch) / cols - mean * mean;
    const float scale = 1.0f / sqrtf(variance + eps);
    for (int c = threadIdx.x; c < cols; c += BLOCK) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

void layernorm(const Problem &p) {
    layernorm_kernel<<<p.n[0], BLOCK>>>((const float *)p.in[0], (const float *)p.in[1], (const float *)p.in[2],
                                        (float *)p.out[0], p.n[1], p.value);
}

__global__ void blur_kernel(const float *in, const float *weights, float *out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy)
        for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
            const int sx = min(max(x + dx, 0), width - 1), sy = min(max(y + dy, 0), height - 1);
            sum += weights[(dy + RADIUS) * (2 * RADIUS + 1) + dx + RADIUS] * in[sy * width + sx];
        }
    out[y * width + x] = sum;
}

void blur(const Problem &p) {
    const dim3 block(32, 8), grid(blocks(p.n[0], 32), blocks(p.n[1], 8));
    blur_kernel<<<grid, block>>>((const float *)p.in[0], (const float *)p.in[1], (float *)p.out[0], p.n[0], p.n[1]);
}

__global__ void spmv_csr_kernel(int rows, const int *starts, const int *columns, const float *values, const float *x,
                                float *y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}

void spmv_csr(const Problem &p) {
    spmv_csr_kernel<<<blocks(p.n[0], 256), 256>>>(p.n[0], (const int *)p.in[0], (const int *)p.in[1],
                                                  (const float *)p.in[2], (const float *)p.in[3], (float *)p.out[0]);
}

__device__ float normal_cdf(float d) {
    return 0.5f * erfcf(-d * 0.70710678f);
}

__global__ void black_scholes_kernel(const float *spot, const float *strike, const float *years, float *call,
                                     float *put, float rate, int n) {
    const float volatility = 0.3f;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float s = spot[i], k = strike[i], t = years[i];
        const float root = volatility * sqrtf(t);
        const float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / root;
        const float n1 = normal_cdf(d1), n2 = normal_cdf(d1 - root);
        const float discounted = k * expf(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

void black_scholes(const Problem &p) {
    black_scholes_kernel<<<blocks(p.n[0], 256), 256>>>((const float *)p.in[0], (const float *)p.in[1],
                                                       (const float *)p.in[2], (float *)p.out[0], (float *)p.out[1],
                                                       p.value, p.n[0]);
}

__global__ void life_kernel(const unsigned char *now, unsigned char *next, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) alive += now[(y + dy) * width + x + dx];
    const int own = now[y * width + x];
    next[y * width + x] = alive == 3 || (alive == 4 && own == 1);
}

void life(const Problem &p) {
    const dim3 block(32, 8), grid(blocks(p.n[0], 32), blocks(p.n[1], 8));
    life_kernel<<<grid, block>>>((const unsigned char *)p.in[0], (unsigned char *)p.out[0], p.n[0], p.n[1]);
}

}  // namespace VARIANT
