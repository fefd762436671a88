// Access to pixels and kernels over them, for every file that includes this one.
#pragma once
#include <cuda_runtime.h>

#include "image.h"

template <class T> __device__ inline T *pixel_row(const Image<T> &image, int y) {
  return (T *)((char *)image.data + y * image.pitch);
}

__device__ inline int clamp_index(int i, int count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

// The target gets operation(source) pixel by pixel.
template <class From, class To, class Operation>
__global__ void map_pixels(Image<From> source, Image<To> target, Operation operation) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < source.width && y < source.height) pixel_row(target, y)[x] = operation(pixel_row(source, y)[x]);
}

inline dim3 tiles(int width, int height, dim3 block) {
  return dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
}
