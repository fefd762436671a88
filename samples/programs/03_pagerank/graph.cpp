#include "graph.h"

#include <algorithm>

Graph make_graph(int vertices, int edges_per_vertex, uint32_t seed) {
  Graph graph;
  graph.vertices = vertices;
  graph.out_degree.assign(vertices, 0);
  std::vector<std::vector<int>> incoming(vertices);
  uint32_t state = seed;
  auto draw = [&state] {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
  };
  for (int v = 0; v < vertices; ++v) {
    if (v % 17 == 3) continue;  // dangling: no way out
    for (int e = 0; e < edges_per_vertex; ++e) {
      int target = int(draw() % vertices);
      if (e % 2) target = target % (1 + vertices / 8);  // a few vertices draw many edges
      incoming[target].push_back(v);
      ++graph.out_degree[v];
    }
  }
  graph.row_start.push_back(0);
  for (auto &row : incoming) {
    std::sort(row.begin(), row.end());
    graph.source.insert(graph.source.end(), row.begin(), row.end());
    graph.row_start.push_back(int(graph.source.size()));
  }
  return graph;
}

std::vector<double> reference_ranks(const Graph &graph, double damping, int rounds) {
  const int n = graph.vertices;
  std::vector<double> rank(n, 1.0 / n), next(n);
  for (int round = 0; round < rounds; ++round) {
    double dangling = 0.0;
    for (int v = 0; v < n; ++v)
      if (graph.out_degree[v] == 0) dangling += rank[v];
    for (int v = 0; v < n; ++v) {
      double sum = 0.0;
      for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e)
        sum += rank[graph.source[e]] / graph.out_degree[graph.source[e]];
      next[v] = (1.0 - damping) / n + damping * (sum + dangling / n);
    }
    rank.swap(next);
  }
  return rank;
}

std::vector<int> reference_in_degrees(const Graph &graph) {
  std::vector<int> degrees(graph.vertices);
  for (int v = 0; v < graph.vertices; ++v) degrees[v] = graph.row_start[v + 1] - graph.row_start[v];
  return degrees;
}
