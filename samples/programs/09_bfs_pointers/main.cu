// Breadth-first search where the kernel of each level is picked from a table of pointers: top down with a
// queue or bottom up over all vertices. Launches go through cudaLaunchKernel.
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

#include <cuda_runtime.h>

#include "search.cuh"

namespace {

constexpr int kVertices = 4000;
constexpr int kBlock = 128;

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

struct Graph {
  std::vector<int> first{0}, neighbour;
};

Graph make_graph() {
  std::vector<std::vector<int>> lists(kVertices);
  unsigned state = 7u;
  auto link = [&](int a, int b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
  };
  for (int v = 0; v + 1 < kVertices - 40; ++v) {
    state = state * 1664525u + 1013904223u;
    if (v % 50) link(v, v + 1);
    if (v % 3 == 0) link(v, int((state >> 8) % (kVertices - 40)));
  }
  Graph graph;
  for (auto &list : lists) {
    graph.neighbour.insert(graph.neighbour.end(), list.begin(), list.end());
    graph.first.push_back(int(graph.neighbour.size()));
  }
  return graph;
}

std::vector<int> reference(const Graph &graph, int root) {
  std::vector<int> level(kVertices, -1);
  std::queue<int> queue;
  level[root] = 0;
  queue.push(root);
  while (!queue.empty()) {
    int v = queue.front();
    queue.pop();
    for (int e = graph.first[v]; e < graph.first[v + 1]; ++e)
      if (level[graph.neighbour[e]] < 0) {
        level[graph.neighbour[e]] = level[v] + 1;
        queue.push(graph.neighbour[e]);
      }
  }
  return level;
}

// What the host reads of a level: zero-copy memory that the kernels write.
struct Progress {
  int queued;
  int edges;
};

enum Direction { kTopDown, kBottomUp, kDirections };

using Kernel = void (*)(DeviceGraph, int *, int *, const int *, int, int *, Progress *, int);

__global__ void top_down(DeviceGraph graph, int *level, int *parent, const int *queue, int queued, int *next,
                         Progress *progress, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= queued) return;
  int v = queue[i];
  for (int e = graph.first[v]; e < graph.first[v + 1]; ++e) {
    int w = graph.neighbour[e];
    if (atomicCAS(&level[w], -1, depth + 1) == -1) {
      parent[w] = v;
      next[atomicAdd(&progress->queued, 1)] = w;
      atomicAdd(&progress->edges, graph.first[w + 1] - graph.first[w]);
    }
  }
}

__global__ void bottom_up(DeviceGraph graph, int *level, int *parent, const int *, int, int *next,
                          Progress *progress, int depth) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= graph.vertices || level[w] >= 0) return;
  for (int e = graph.first[w]; e < graph.first[w + 1]; ++e) {
    int v = graph.neighbour[e];
    if (level[v] == depth) {
      level[w] = depth + 1;
      parent[w] = v;
      next[atomicAdd(&progress->queued, 1)] = w;
      atomicAdd(&progress->edges, graph.first[w + 1] - graph.first[w]);
      break;
    }
  }
}

const Kernel kernels[kDirections] = {top_down, bottom_up};

}  // namespace

int main() {
  const Graph graph = make_graph();
  int *first, *neighbour, *level, *parent, *queues[2];
  require(cudaMalloc(&first, graph.first.size() * sizeof(int)), "cudaMalloc");
  require(cudaMalloc(&neighbour, graph.neighbour.size() * sizeof(int)), "cudaMalloc");
  for (int **memory : {&level, &parent, &queues[0], &queues[1]})
    require(cudaMalloc(memory, kVertices * sizeof(int)), "cudaMalloc");
  require(cudaMemcpy(first, graph.first.data(), graph.first.size() * sizeof(int), cudaMemcpyHostToDevice), "upload");
  require(cudaMemcpy(neighbour, graph.neighbour.data(), graph.neighbour.size() * sizeof(int), cudaMemcpyHostToDevice),
          "upload");
  DeviceGraph device{first, neighbour, kVertices};

  // Pinned memory that the device sees at an address of its own.
  Progress *progress, *device_progress;
  require(cudaHostAlloc(&progress, sizeof(Progress), cudaHostAllocMapped), "cudaHostAlloc");
  require(cudaHostGetDevicePointer(&device_progress, progress, 0), "cudaHostGetDevicePointer");

  int wrong = 0, levels = 0, taken[kDirections] = {};
  for (int root : {0, 1234, kVertices - 1}) {
    int minus_one = -1, queued = 1, edges = graph.first[root + 1] - graph.first[root];
    void *fill_arguments[] = {&level, &minus_one, (void *)&kVertices};
    require(cudaLaunchKernel((const void *)fill<int>, dim3((kVertices + kBlock - 1) / kBlock), dim3(kBlock),
                             fill_arguments, 0, nullptr), "fill");
    fill<<<(kVertices + kBlock - 1) / kBlock, kBlock>>>(parent, -1, kVertices);
    seed<<<1, 1>>>(level, queues[0], root);
    int depth = 0;
    for (; queued > 0; ++depth) {
      const Direction direction = edges > kVertices / 12 ? kBottomUp : kTopDown;
      ++taken[direction];
      const int threads = direction == kTopDown ? queued : kVertices;
      int *queue = queues[depth % 2], *next = queues[1 - depth % 2];
      progress->queued = progress->edges = 0;
      void *arguments[] = {&device, &level, &parent, &queue, &queued, &next, &device_progress, &depth};
      require(cudaLaunchKernel((const void *)kernels[direction], dim3((threads + kBlock - 1) / kBlock), dim3(kBlock),
                               arguments, 0, nullptr), "level");
      require(cudaDeviceSynchronize(), "level");
      queued = progress->queued;
      edges = progress->edges;
    }
    levels += depth;
    std::vector<int> result(kVertices), parents(kVertices);
    require(cudaMemcpy(result.data(), level, kVertices * sizeof(int), cudaMemcpyDeviceToHost), "download");
    require(cudaMemcpy(parents.data(), parent, kVertices * sizeof(int), cudaMemcpyDeviceToHost), "download");
    const std::vector<int> expected = reference(graph, root);
    for (int v = 0; v < kVertices; ++v) {
      wrong += result[v] != expected[v];
      if (v == root || expected[v] < 0) {
        wrong += parents[v] != -1;
        continue;
      }
      bool linked = false;
      for (int e = graph.first[v]; e < graph.first[v + 1]; ++e) linked |= graph.neighbour[e] == parents[v];
      wrong += !linked || expected[parents[v]] != expected[v] - 1;
    }
    // How many vertices each level holds, by a kernel that is launched by its address as well.
    int *sizes;
    const int bins = 64;
    require(cudaMalloc(&sizes, bins * sizeof(int)), "cudaMalloc");
    require(cudaMemset(sizes, 0, bins * sizeof(int)), "cudaMemset");
    void (*count)(const int *, int, int *, int) = count_levels;
    count<<<8, kBlock, bins * sizeof(int)>>>(level, kVertices, sizes, bins);
    require(cudaGetLastError(), "count_levels");
    std::vector<int> counted(bins), expected_counts(bins, 0);
    require(cudaMemcpy(counted.data(), sizes, bins * sizeof(int), cudaMemcpyDeviceToHost), "download");
    for (int l : expected)
      if (l >= 0) ++expected_counts[l < bins ? l : bins - 1];
    for (int b = 0; b < bins; ++b) wrong += counted[b] != expected_counts[b];
    require(cudaFree(sizes), "cudaFree");
  }
  if (!taken[kTopDown] || !taken[kBottomUp]) ++wrong;

  for (int *memory : {first, neighbour, level, parent, queues[0], queues[1]}) require(cudaFree(memory), "cudaFree");
  require(cudaFreeHost(progress), "cudaFreeHost");
  std::printf("bfs_pointers: %d vertices, %zu edges, %d levels, %d wrong: %s\n", kVertices,
              graph.neighbour.size() / 2, levels, wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
