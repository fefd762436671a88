// Separable blur: rows through dynamic shared memory, columns straight from memory.
#include "filters.h"
#include "pixels.cuh"

namespace {

__constant__ int taps[2 * kRadius + 1];

__global__ void blur_rows(Image<unsigned char> source, Image<int> target) {
  extern __shared__ unsigned char staged[];  // blockDim.x + 2 * kRadius pixels
  int first = blockIdx.x * blockDim.x - kRadius, y = blockIdx.y;
  const unsigned char *row = pixel_row(source, y);
  for (int i = threadIdx.x; i < blockDim.x + 2 * kRadius; i += blockDim.x)
    staged[i] = row[clamp_index(first + i, source.width)];
  __syncthreads();
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= source.width) return;
  int sum = 0;
  for (int k = 0; k <= 2 * kRadius; ++k) sum += taps[k] * staged[threadIdx.x + k];
  pixel_row(target, y)[x] = sum;
}

__global__ void blur_columns(Image<int> source, Image<unsigned char> target) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= source.width || y >= source.height) return;
  int sum = 0;
#pragma unroll
  for (int k = -kRadius; k <= kRadius; ++k)
    sum += taps[k + kRadius] * pixel_row(source, clamp_index(y + k, source.height))[x];
  pixel_row(target, y)[x] = (unsigned char)((sum + 32768) >> 16);
}

}  // namespace

cudaError_t set_taps(const int values[2 * kRadius + 1]) { return cudaMemcpyToSymbol(taps, values, sizeof taps); }

cudaError_t blur(Image<unsigned char> source, Image<int> scratch, Image<unsigned char> target, cudaStream_t stream) {
  const int block = 64;
  blur_rows<<<dim3((source.width + block - 1) / block, source.height), block, block + 2 * kRadius, stream>>>(source,
                                                                                                             scratch);
  dim3 tile(32, 4);
  blur_columns<<<tiles(source.width, source.height, tile), tile, 0, stream>>>(scratch, target);
  return cudaGetLastError();
}
