// Sobel gradient, staged in a shared tile with its border.
#include "filters.h"
#include "pixels.cuh"

namespace {

constexpr int kTile = 16;

__global__ void sobel(Image<unsigned char> source, Image<int> target) {
  __shared__ int tile[kTile + 2][kTile + 2];
  int left = blockIdx.x * kTile - 1, top = blockIdx.y * kTile - 1;
  for (int i = threadIdx.y * kTile + threadIdx.x; i < (kTile + 2) * (kTile + 2); i += kTile * kTile) {
    int y = i / (kTile + 2), x = i % (kTile + 2);
    tile[y][x] = pixel_row(source, clamp_index(top + y, source.height))[clamp_index(left + x, source.width)];
  }
  __syncthreads();
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (x >= source.width || y >= source.height) return;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int gx = tile[ty - 1][tx + 1] + 2 * tile[ty][tx + 1] + tile[ty + 1][tx + 1] - tile[ty - 1][tx - 1] -
           2 * tile[ty][tx - 1] - tile[ty + 1][tx - 1];
  int gy = tile[ty + 1][tx - 1] + 2 * tile[ty + 1][tx] + tile[ty + 1][tx + 1] - tile[ty - 1][tx - 1] -
           2 * tile[ty - 1][tx] - tile[ty - 1][tx + 1];
  pixel_row(target, y)[x] = abs(gx) + abs(gy);
}

struct ShiftAndClip {
  int shift;
  __device__ unsigned char operator()(int value) const {
    value >>= shift;
    return (unsigned char)(value > 255 ? 255 : value);
  }
};

}  // namespace

cudaError_t gradient(Image<unsigned char> source, Image<int> target, cudaStream_t stream) {
  dim3 block(kTile, kTile);
  sobel<<<tiles(source.width, source.height, block), block, 0, stream>>>(source, target);
  return cudaGetLastError();
}

cudaError_t clip(Image<int> source, Image<unsigned char> target, int shift, cudaStream_t stream) {
  dim3 block(32, 8);
  map_pixels<<<tiles(source.width, source.height, block), block, 0, stream>>>(source, target, ShiftAndClip{shift});
  return cudaGetLastError();
}
