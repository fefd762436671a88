// A directed graph by incoming edges (compressed rows), made without CUDA.
#pragma once
#include <cstdint>
#include <vector>

struct Graph {
  int vertices = 0;
  std::vector<int> row_start;   // vertices + 1
  std::vector<int> source;      // of each incoming edge, sorted within a row
  std::vector<int> out_degree;  // of each vertex
};

Graph make_graph(int vertices, int edges_per_vertex, uint32_t seed);
std::vector<double> reference_ranks(const Graph &graph, double damping, int rounds);
std::vector<int> reference_in_degrees(const Graph &graph);
