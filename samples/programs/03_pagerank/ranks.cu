#include "ranks.h"
#include "symbols.cuh"

static const int kBlock = 128;

static __global__ void set_initial(double *rank) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < settings.vertices) rank[v] = 1.0 / settings.vertices;
}

static __global__ void sum_dangling(const double *rank, const int *out_degree) {
  __shared__ double partial[kBlock];
  double mine = 0.0;
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < settings.vertices; v += gridDim.x * blockDim.x)
    if (out_degree[v] == 0) mine += rank[v];
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step >>= 1) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(&dangling_rank, partial[0]);
}

static __global__ void gather_ranks(const int *row_start, const int *source, const int *out_degree,
                                    const double *rank, double *next) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= settings.vertices) return;
  double sum = 0.0;
  int first = row_start[v], last = row_start[v + 1];
  for (int e = first; e < last; ++e) {
    int u = source[e];
    sum += rank[u] / out_degree[u];
  }
  next[v] = settings.base + settings.damping * (sum + dangling_rank / settings.vertices);
  atomicAdd(&edges_visited, (unsigned long long)(last - first));
}

static __global__ void count_degrees(const int *row_start, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) atomicAdd(&degree_histogram[degree_class(row_start[v + 1] - row_start[v])], 1);
}

static __global__ void total_rank(const double *rank, double *total, int vertices) {
  double mine = 0.0;
  for (int v = threadIdx.x; v < vertices; v += blockDim.x) mine += rank[v];
  for (int offset = 16; offset > 0; offset >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, offset);
  if (threadIdx.x == 0) *total = mine;
}

static __global__ void normalise(double *rank, const double *total, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) rank[v] /= *total;
}

static int blocks_for(int count) { return (count + kBlock - 1) / kBlock; }

void launch_initial(double *rank, int vertices, cudaStream_t stream) {
  set_initial<<<blocks_for(vertices), kBlock, 0, stream>>>(rank);
}

void launch_round(const DeviceGraph &graph, const double *rank, double *next, cudaStream_t stream) {
  clear_dangling(stream);
  sum_dangling<<<4, kBlock, 0, stream>>>(rank, graph.out_degree);
  gather_ranks<<<blocks_for(graph.vertices), kBlock, 0, stream>>>(graph.row_start, graph.source, graph.out_degree,
                                                                  rank, next);
}

void launch_degrees(const DeviceGraph &graph, cudaStream_t stream) {
  count_degrees<<<blocks_for(graph.vertices), kBlock, 0, stream>>>(graph.row_start, graph.vertices);
}

void launch_total(const double *rank, double *total, int vertices, cudaStream_t stream) {
  total_rank<<<1, 32, 0, stream>>>(rank, total, vertices);
}

void launch_normalise(double *rank, const double *total, int vertices, cudaStream_t stream) {
  normalise<<<blocks_for(vertices), kBlock, 0, stream>>>(rank, total, vertices);
}

cudaError_t read_counters(unsigned long long *edges, int histogram[16]) {
  cudaError_t status = cudaMemcpyFromSymbol(edges, edges_visited, sizeof *edges);
  if (status != cudaSuccess) return status;
  void *address = nullptr;
  size_t bytes = 0;
  status = cudaGetSymbolAddress(&address, degree_histogram);
  if (status != cudaSuccess) return status;
  status = cudaGetSymbolSize(&bytes, degree_histogram);
  if (status != cudaSuccess) return status;
  return bytes == 16 * sizeof(int) ? cudaMemcpy(histogram, address, bytes, cudaMemcpyDeviceToHost)
                                   : cudaErrorInvalidSymbol;
}
