// Kernels that the search and others share.
#pragma once
#include <cuda_runtime.h>

struct DeviceGraph {
  const int *first;
  const int *neighbour;
  int vertices;
};

template <class T> __global__ void fill(T *values, T value, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = value;
}

static __global__ void seed(int *level, int *queue, int root) {
  level[root] = 0;
  queue[0] = root;
}

// Counts vertices by level; levels past the last bin go into it. Dynamic shared memory: one int a bin.
static __global__ void count_levels(const int *level, int vertices, int *sizes, int bins) {
  extern __shared__ int counts[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += gridDim.x * blockDim.x)
    if (level[v] >= 0) atomicAdd(&counts[level[v] < bins ? level[v] : bins - 1], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (counts[b] > 0) atomicAdd(&sizes[b], counts[b]);
}
