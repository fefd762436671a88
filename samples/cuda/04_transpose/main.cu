// Out-of-place transpose of a height x width matrix: direct, and staged through a padded tile.
// Usage: transpose [height width]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(x)                                                                        \
    do {                                                                                \
        if ((x) != cudaSuccess) {                                                       \
            fprintf(stderr, "CUDA failure at %s:%d\n", __FILE__, __LINE__);             \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;

__global__ void transpose_direct(float *out, const float *in, int width, int height) {
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < width && y + j < height) {
            out[x * height + (y + j)] = in[(y + j) * width + x];
        }
    }
}

__global__ void transpose_tile(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < width && (y + j) < height) {
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
        }
    }

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < height && (y + j) < width) {
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}

static int count_errors(const std::vector<float> &in, const std::vector<float> &out, int width,
                        int height) {
    int bad = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            if (out[x * height + y] != in[y * width + x]) ++bad;
        }
    }
    return bad;
}

int main(int argc, char **argv) {
    int height = 100, width = 203;
    if (argc > 2) {
        height = atoi(argv[1]);
        width = atoi(argv[2]);
    }
    const size_t count = static_cast<size_t>(width) * height;
    const size_t bytes = count * sizeof(float);
    std::vector<float> in(count), out(count);
    for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i);

    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));

    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM, 1);
    dim3 block(TILE_DIM, BLOCK_ROWS, 1);
    int bad = 0;

    CHECK(cudaMemset(d_out, 0, bytes));
    transpose_direct<<<grid, block>>>(d_out, d_in, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    bad += count_errors(in, out, width, height);

    CHECK(cudaMemset(d_out, 0, bytes));
    transpose_tile<<<grid, block>>>(d_out, d_in, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    bad += count_errors(in, out, width, height);

    cudaFree(d_in);
    cudaFree(d_out);
    printf("transpose %dx%d: %s\n", height, width, bad == 0 ? "PASS" : "FAIL");
    return bad == 0 ? 0 : 1;
}
