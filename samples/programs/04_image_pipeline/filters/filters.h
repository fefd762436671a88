// Blur and gradient of images on the device. All functions return the status of the launches.
#pragma once
#include <cuda_runtime_api.h>

#include "image.h"

constexpr int kRadius = 3;

cudaError_t set_taps(const int taps[2 * kRadius + 1]);  // they sum to 256
cudaError_t blur(Image<unsigned char> source, Image<int> scratch, Image<unsigned char> target, cudaStream_t stream);
cudaError_t gradient(Image<unsigned char> source, Image<int> target, cudaStream_t stream);
cudaError_t clip(Image<int> source, Image<unsigned char> target, int shift, cudaStream_t stream);
