#include "kernels.cuh"

__constant__ float c_taps[kMaxTaps];

__global__ void convolve_rows(const float *in, float *out, int width, int height, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; ++k) {
        sum += c_taps[k + radius] * in[y * width + clamp_index(x + k, width)];
    }
    out[y * width + x] = sum;
}

__global__ void convolve_columns(const float *in, float *out, int width, int height, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; ++k) {
        sum += c_taps[k + radius] * in[clamp_index(y + k, height) * width + x];
    }
    out[y * width + x] = sum;
}

__global__ void sobel(const float *in, float *out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float window[3][3];
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            window[dy + 1][dx + 1] =
                in[clamp_index(y + dy, height) * width + clamp_index(x + dx, width)];
        }
    }
    const float gx = window[0][2] + 2.0f * window[1][2] + window[2][2] - window[0][0] -
                     2.0f * window[1][0] - window[2][0];
    const float gy = window[2][0] + 2.0f * window[2][1] + window[2][2] - window[0][0] -
                     2.0f * window[0][1] - window[0][2];
    out[y * width + x] = sqrtf(gx * gx + gy * gy);
}

static dim3 grid_for(const Image &image, dim3 block) {
    return dim3((image.width() + block.x - 1) / block.x, (image.height() + block.y - 1) / block.y);
}

void set_filter(const float *taps, int radius) {
    CUDA_CHECK(cudaMemcpyToSymbol(c_taps, taps, sizeof(float) * (2 * radius + 1)));
}

void blur(const Image &in, Image &scratch, Image &out, int radius) {
    const dim3 block(32, 4);
    convolve_rows<<<grid_for(in, block), block>>>(in.data(), scratch.data(), in.width(),
                                                  in.height(), radius);
    CUDA_CHECK(cudaGetLastError());
    convolve_columns<<<grid_for(in, block), block>>>(scratch.data(), out.data(), in.width(),
                                                     in.height(), radius);
    CUDA_CHECK(cudaGetLastError());
}

void gradient(const Image &in, Image &out) {
    const dim3 block(16, 16);
    sobel<<<grid_for(in, block), block>>>(in.data(), out.data(), in.width(), in.height());
    CUDA_CHECK(cudaGetLastError());
}
