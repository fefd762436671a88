// What the host program calls: no CUDA types but the stream.
#pragma once
#include <cuda_runtime_api.h>

struct DeviceGraph {
  int vertices;
  const int *row_start;
  const int *source;
  const int *out_degree;
};

void launch_initial(double *rank, int vertices, cudaStream_t stream);
void launch_round(const DeviceGraph &graph, const double *rank, double *next, cudaStream_t stream);
void launch_degrees(const DeviceGraph &graph, cudaStream_t stream);
void launch_normalise(double *rank, const double *total, int vertices, cudaStream_t stream);
void launch_total(const double *rank, double *total, int vertices, cudaStream_t stream);
cudaError_t read_counters(unsigned long long *edges, int histogram[16]);
