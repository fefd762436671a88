#include "symbols.cuh"

__constant__ Settings settings;
__device__ double dangling_rank;
__device__ unsigned long long edges_visited = 0;
__device__ int degree_histogram[16] = {0};

__device__ int degree_class(int degree) {
  int position = 0;
  while (degree > 0 && position < 15) {
    degree /= 2;
    ++position;
  }
  return position;
}

cudaError_t store_settings(int vertices, double damping) {
  Settings values = {vertices, damping, (1.0 - damping) / vertices};
  return cudaMemcpyToSymbol(settings, &values, sizeof values);
}

cudaError_t clear_dangling(cudaStream_t stream) {
  static const double zero = 0.0;
  return cudaMemcpyToSymbolAsync(dangling_rank, &zero, sizeof zero, 0, cudaMemcpyHostToDevice, stream);
}
