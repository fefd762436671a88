// Runs with little device memory: what does not fit is refused, the rest of the program goes on.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__global__ void fill(int *x, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

int main() {
  int wrong = 0;
  size_t free_bytes = 0, total = 0;
  wrong += cudaMemGetInfo(&free_bytes, &total) != cudaSuccess || free_bytes > total || total == 0;
  const size_t piece = total / 8;
  std::vector<void *> pieces;
  void *memory = nullptr;
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < 100 && (status = cudaMalloc(&memory, piece)) == cudaSuccess; ++i) pieces.push_back(memory);
  wrong += status != cudaErrorMemoryAllocation || pieces.size() < 6 || pieces.size() > 8;
  wrong += cudaGetLastError() != cudaErrorMemoryAllocation || cudaGetLastError() != cudaSuccess;
  wrong += cudaMallocManaged(&memory, total) != cudaErrorMemoryAllocation;
  wrong += cudaGetLastError() != cudaErrorMemoryAllocation;
  // What there is still works, and what is freed can be had again.
  int *x = static_cast<int *>(pieces.back()), value = 0;
  fill<<<4, 64>>>(x, 7, 256);
  wrong += cudaMemcpy(&value, x + 255, sizeof value, cudaMemcpyDeviceToHost) != cudaSuccess || value != 7;
  wrong += cudaFree(pieces.back()) != cudaSuccess;
  wrong += cudaMalloc(&memory, piece) != cudaSuccess;
  pieces.back() = memory;
  for (void *one : pieces) wrong += cudaFree(one) != cudaSuccess;
  wrong += cudaFree(pieces.front()) != cudaErrorInvalidValue;
  wrong += cudaGetLastError() != cudaErrorInvalidValue;
  size_t after = 0;
  wrong += cudaMemGetInfo(&after, &total) != cudaSuccess || after < free_bytes;
  std::printf("allocation: %d wrong\n", wrong);
  return wrong != 0;
}
