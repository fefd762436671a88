// Image filters: declarations shared by main.cu and ops.cu, and a kernel template.
#pragma once

#include <cuda_runtime.h>

#include "image.h"

constexpr int kMaxRadius = 4;
constexpr int kMaxTaps = 2 * kMaxRadius + 1;

// Sets the filter taps in constant memory; 2 * radius + 1 values.
void set_filter(const float *taps, int radius);

// Separable convolution with the taps set before, edges clamped.
void blur(const Image &in, Image &scratch, Image &out, int radius);

// Sobel gradient magnitude.
void gradient(const Image &in, Image &out);

__device__ __forceinline__ int clamp_index(int i, int n) {
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

template <typename Op>
__global__ void map_pixels(const float *in, float *out, int count, Op op) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        out[i] = op(in[i]);
    }
}
