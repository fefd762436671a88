// Device symbols that several files share; defined in symbols.cu.
#pragma once
#include <cuda_runtime.h>

struct Settings {
  int vertices;
  double damping;
  double base;  // (1 - damping) / vertices
};

extern __constant__ Settings settings;
extern __device__ double dangling_rank;
extern __device__ unsigned long long edges_visited;
extern __device__ int degree_histogram[16];

// Defined in symbols.cu, called from kernels of ranks.cu.
__device__ int degree_class(int degree);

cudaError_t store_settings(int vertices, double damping);
cudaError_t clear_dangling(cudaStream_t stream);
