#include "equalise.h"
#include "pixels.cuh"

namespace {

__global__ void largest_value(cudaPitchedPtr volume, int depth, Image<unsigned char> target) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= target.width || y >= target.height) return;
  unsigned char largest = 0;
  for (int z = 0; z < depth; ++z) {
    const unsigned char *slice = (const unsigned char *)volume.ptr + z * volume.pitch * volume.ysize;
    unsigned char value = slice[y * volume.pitch + x];
    largest = value > largest ? value : largest;
  }
  pixel_row(target, y)[x] = largest;
}

}  // namespace

cudaError_t project(cudaPitchedPtr volume, int depth, Image<unsigned char> target, cudaStream_t stream) {
  dim3 block(16, 8);
  largest_value<<<tiles(target.width, target.height, block), block, 0, stream>>>(volume, depth, target);
  return cudaGetLastError();
}
