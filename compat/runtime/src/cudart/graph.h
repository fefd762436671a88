// Graphs of work: nodes with what each waits for, and the executable copies that streams run.
#ifndef TM_CUDART_GRAPH_H
#define TM_CUDART_GRAPH_H

#include <memory>
#include <mutex>
#include <vector>

#include "internal.h"

namespace tile_migrate {

struct GraphNode {
  cudaGraphNode_t handle = nullptr;
  Graph *graph = nullptr;
  std::shared_ptr<const Operation> operation;
  std::vector<GraphNode *> after;  // of the same graph
};

struct Graph {
  ~Graph();
  std::mutex mutex;
  cudaGraph_t handle = nullptr;
  std::vector<std::shared_ptr<GraphNode>> nodes;  // under mutex; in the order of their creation
};

// One step of a GraphExec, in an order in which every node comes after what it waits for.
struct GraphStep {
  cudaGraphNode_t node;  // of the graph that was instantiated
  std::shared_ptr<const Operation> operation;
  std::vector<size_t> after;  // indices of steps
};

struct GraphExec {
  std::mutex mutex;
  std::shared_ptr<const std::vector<GraphStep>> steps;  // under mutex; launches keep the one they took
};

// Adds a node; null if there are too many.
GraphNode *add_node(Graph &graph, std::shared_ptr<const Operation> operation, std::vector<GraphNode *> after);
// False: the dependencies form a cycle.
bool steps_of(Graph &graph, std::vector<GraphStep> *steps);
std::shared_ptr<Graph> new_graph();

}  // namespace tile_migrate

#endif
