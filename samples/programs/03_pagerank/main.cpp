// PageRank over compressed rows. The kernels, and the device symbols they share, live in two CUDA files;
// this file is plain C++.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "graph.h"
#include "ranks.h"

cudaError_t store_settings(int vertices, double damping);

namespace {

constexpr double kDamping = 0.85;
constexpr int kRounds = 16;

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

template <class T> const T *upload(const std::vector<T> &values) {
  void *memory = nullptr;
  require(cudaMalloc(&memory, values.size() * sizeof(T)), "cudaMalloc");
  require(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return static_cast<const T *>(memory);
}

int degree_class(int degree) {
  int position = 0;
  for (; degree > 0 && position < 15; ++position) degree /= 2;
  return position;
}

}  // namespace

int main(int argc, char **argv) {
  const int vertices = argc > 1 ? std::atoi(argv[1]) : 3000;
  const Graph graph = make_graph(vertices, 6, 12345u);
  DeviceGraph device{vertices, upload(graph.row_start), upload(graph.source), upload(graph.out_degree)};
  void *rank_memory[2], *total_memory;
  for (void *&memory : rank_memory) require(cudaMalloc(&memory, vertices * sizeof(double)), "cudaMalloc");
  require(cudaMalloc(&total_memory, sizeof(double)), "cudaMalloc");
  double *rank[2] = {static_cast<double *>(rank_memory[0]), static_cast<double *>(rank_memory[1])};
  double *total = static_cast<double *>(total_memory);

  cudaStream_t stream;
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  require(store_settings(vertices, kDamping), "settings");
  launch_initial(rank[0], vertices, stream);
  for (int round = 0; round < kRounds; ++round) {
    launch_round(device, rank[round % 2], rank[1 - round % 2], stream);
    require(cudaGetLastError(), "round");
  }
  launch_degrees(device, stream);
  double sum = 0.0;
  launch_total(rank[kRounds % 2], total, vertices, stream);
  require(cudaMemcpyAsync(&sum, total, sizeof sum, cudaMemcpyDeviceToHost, stream), "total");
  require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  launch_normalise(rank[kRounds % 2], total, vertices, stream);
  std::vector<double> result(vertices);
  require(cudaMemcpyAsync(result.data(), rank[kRounds % 2], vertices * sizeof(double), cudaMemcpyDeviceToHost, stream),
          "download");
  require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  unsigned long long edges = 0;
  int histogram[16];
  require(read_counters(&edges, histogram), "counters");

  int wrong = std::fabs(sum - 1.0) <= 1e-9 ? 0 : 1;
  const std::vector<double> expected = reference_ranks(graph, kDamping, kRounds);
  const double expected_sum = std::accumulate(expected.begin(), expected.end(), 0.0);
  for (int v = 0; v < vertices; ++v)
    wrong += !(std::fabs(result[v] * expected_sum - expected[v]) <= 1e-11 + 1e-9 * expected[v]);
  wrong += edges != (unsigned long long)graph.source.size() * kRounds;
  int expected_histogram[16] = {};
  for (int degree : reference_in_degrees(graph)) ++expected_histogram[degree_class(degree)];
  for (int c = 0; c < 16; ++c) wrong += histogram[c] != expected_histogram[c];
  const long best = std::max_element(result.begin(), result.end()) - result.begin();
  wrong += best != std::max_element(expected.begin(), expected.end()) - expected.begin();

  for (const void *memory : {(const void *)device.row_start, (const void *)device.source,
                             (const void *)device.out_degree, (const void *)rank[0], (const void *)rank[1],
                             (const void *)total})
    require(cudaFree(const_cast<void *>(memory)), "cudaFree");
  require(cudaStreamDestroy(stream), "cudaStreamDestroy");
  std::printf("pagerank: %d vertices, %zu edges, best %ld, %d wrong: %s\n", vertices, graph.source.size(), best, wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
