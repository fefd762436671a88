#include "equalise.h"
#include "pixels.cuh"

namespace {

__global__ void count_values(Image<unsigned char> image, unsigned *histogram) {
  __shared__ unsigned counts[256];
  int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int value = thread; value < 256; value += threads) counts[value] = 0;
  __syncthreads();
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < image.width)
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < image.height; y += gridDim.y * blockDim.y)
      atomicAdd(&counts[pixel_row(image, y)[x]], 1u);
  __syncthreads();
  for (int value = thread; value < 256; value += threads)
    if (counts[value]) atomicAdd(&histogram[value], counts[value]);
}

// Running sums of the histogram, scaled to 0..255. One block of 256 threads.
__global__ void make_levels(const unsigned *histogram, unsigned char *levels, unsigned pixels) {
  __shared__ unsigned sums[2][256];
  int value = threadIdx.x, side = 0;
  sums[0][value] = histogram[value];
  __syncthreads();
  for (int distance = 1; distance < 256; distance *= 2) {
    unsigned sum = sums[side][value];
    if (value >= distance) sum += sums[side][value - distance];
    sums[1 - side][value] = sum;
    side = 1 - side;
    __syncthreads();
  }
  levels[value] = (unsigned char)((sums[side][value] * 255ull) / pixels);
}

struct Replace {
  const unsigned char *levels;
  __device__ unsigned char operator()(unsigned char value) const { return levels[value]; }
};

}  // namespace

cudaError_t equalise(Image<unsigned char> image, Workspace workspace, cudaStream_t stream) {
  dim3 block(32, 4), grid((image.width + 31) / 32, 4);
  cudaError_t status = cudaMemsetAsync(workspace.histogram, 0, 256 * sizeof(unsigned), stream);
  if (status != cudaSuccess) return status;
  count_values<<<grid, block, 0, stream>>>(image, workspace.histogram);
  make_levels<<<1, 256, 0, stream>>>(workspace.histogram, workspace.levels, unsigned(image.width) * image.height);
  map_pixels<<<tiles(image.width, image.height, block), block, 0, stream>>>(image, image, Replace{workspace.levels});
  return cudaGetLastError();
}
