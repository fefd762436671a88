#include "graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "capture.h"
#include "copy.h"
#include "kernel.h"

namespace tile_migrate {

namespace {

// All nodes, one after another: an order that the dependencies allow.
class GraphOperation final : public Operation {
 public:
  explicit GraphOperation(std::shared_ptr<const std::vector<GraphStep>> steps) : steps(std::move(steps)) {}
  cudaError_t run(cudaStream_t stream, Device &device) const override {
    for (const GraphStep &step : *steps) {
      const cudaError_t error = step.operation->run(stream, device);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeGraph; }
  const std::shared_ptr<const std::vector<GraphStep>> steps;
};

}  // namespace

Graph::~Graph() {
  for (const auto &node : nodes) runtime().nodes.remove(node->handle);
}

std::shared_ptr<Graph> new_graph() {
  auto graph = std::make_shared<Graph>();
  graph->handle = runtime().graphs.add(graph);
  return graph->handle ? graph : nullptr;
}

GraphNode *add_node(Graph &graph, std::shared_ptr<const Operation> operation, std::vector<GraphNode *> after) {
  auto node = std::make_shared<GraphNode>();
  node->graph = &graph;
  node->operation = std::move(operation);
  node->after = std::move(after);
  node->handle = runtime().nodes.add(node);
  if (!node->handle) return nullptr;
  std::lock_guard<std::mutex> guard(graph.mutex);
  graph.nodes.push_back(node);
  return node.get();
}

bool steps_of(Graph &graph, std::vector<GraphStep> *steps) {
  std::lock_guard<std::mutex> guard(graph.mutex);
  std::unordered_map<const GraphNode *, size_t> at;
  while (steps->size() < graph.nodes.size()) {
    const size_t before = steps->size();
    for (const auto &node : graph.nodes) {
      if (at.count(node.get())) continue;
      GraphStep step{node->handle, node->operation, {}};
      for (const GraphNode *other : node->after) {
        const auto found = at.find(other);
        if (found == at.end()) break;
        step.after.push_back(found->second);
      }
      if (step.after.size() != node->after.size()) continue;
      at[node.get()] = steps->size();
      steps->push_back(std::move(step));
    }
    if (steps->size() == before) return false;
  }
  return true;
}

}  // namespace tile_migrate

using namespace tile_migrate;

namespace {

// The nodes behind handles, all of one graph.
bool nodes_of(Graph &graph, const cudaGraphNode_t *handles, size_t count, std::vector<GraphNode *> *nodes) {
  if (count && !handles) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::shared_ptr<GraphNode> node = runtime().nodes.find(handles[i]);
    if (!node || node->graph != &graph) return false;
    if (std::find(nodes->begin(), nodes->end(), node.get()) != nodes->end()) return false;
    nodes->push_back(node.get());
  }
  return true;
}

cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                std::shared_ptr<const Operation> operation) {
  const std::shared_ptr<Graph> to = runtime().graphs.find(graph);
  std::vector<GraphNode *> nodes;
  if (!node || !to || !nodes_of(*to, after, count, &nodes)) return cudaErrorInvalidValue;
  const GraphNode *added = add_node(*to, std::move(operation), std::move(nodes));
  if (!added) return cudaErrorMemoryAllocation;
  *node = added->handle;
  return cudaSuccess;
}

cudaError_t kernel_operation(const cudaKernelNodeParams *parameters, std::shared_ptr<const Operation> *operation) {
  if (!parameters) return cudaErrorInvalidValue;
  if (parameters->extra) return cudaErrorNotSupported;
  LaunchShape shape;
  shape.grid = parameters->gridDim;
  shape.block = parameters->blockDim;
  shape.shared_bytes = parameters->sharedMemBytes;
  std::shared_ptr<const KernelOperation> made;
  const cudaError_t error = make_launch(parameters->func, shape, parameters->kernelParams, &made);
  *operation = made;
  return error;
}

cudaError_t copy_operation(const cudaMemcpy3DParms *parameters, std::shared_ptr<const Operation> *operation) {
  if (!parameters) return cudaErrorInvalidValue;
  CopyBox box;
  cudaError_t error = copy_box_of(*parameters, &box);
  if (error == cudaSuccess) error = check_copy(box, parameters->kind);
  if (error == cudaSuccess) *operation = std::make_shared<CopyOperation>(box);
  return error;
}

cudaError_t linear_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                        std::shared_ptr<const Operation> *operation) {
  CopyBox box;
  box.to = static_cast<char *>(to);
  box.from = static_cast<const char *>(from);
  box.width = bytes;
  const cudaError_t error = check_copy(box, kind);
  if (error == cudaSuccess) *operation = std::make_shared<CopyOperation>(box);
  return error;
}

cudaError_t fill_operation(const cudaMemsetParams *parameters, std::shared_ptr<const Operation> *operation) {
  if (!parameters) return cudaErrorInvalidValue;
  FillBox box;
  cudaError_t error = fill_box_of(*parameters, &box);
  if (error == cudaSuccess) error = check_fill(box);
  if (error == cudaSuccess) *operation = std::make_shared<FillOperation>(box);
  return error;
}

cudaError_t host_node(const cudaHostNodeParams *parameters, std::shared_ptr<const Operation> *operation) {
  if (!parameters || !parameters->fn) return cudaErrorInvalidValue;
  *operation = host_operation(parameters->fn, parameters->userData);
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph) {
  const std::shared_ptr<Graph> from = runtime().graphs.find(graph);
  if (!exec || !from) return cudaErrorInvalidValue;
  std::vector<GraphStep> steps;
  if (!steps_of(*from, &steps)) return cudaErrorInvalidValue;
  auto made = std::make_shared<GraphExec>();
  made->steps = std::make_shared<const std::vector<GraphStep>>(std::move(steps));
  *exec = runtime().execs.add(std::move(made));
  return *exec ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t replace_step(cudaGraphExec_t exec, cudaGraphNode_t node, const std::shared_ptr<const Operation> &operation) {
  const std::shared_ptr<GraphExec> in = runtime().execs.find(exec);
  if (!in) return cudaErrorInvalidValue;
  std::lock_guard<std::mutex> guard(in->mutex);
  auto steps = std::make_shared<std::vector<GraphStep>>(*in->steps);
  for (GraphStep &step : *steps) {
    if (step.node != node) continue;
    if (step.operation->type() != operation->type()) return cudaErrorInvalidValue;
    step.operation = operation;
    in->steps = std::move(steps);
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t replace_node(cudaGraphNode_t node, const std::shared_ptr<const Operation> &operation) {
  const std::shared_ptr<GraphNode> found = runtime().nodes.find(node);
  if (!found || found->operation->type() != operation->type()) return cudaErrorInvalidValue;
  std::lock_guard<std::mutex> guard(found->graph->mutex);
  found->operation = operation;
  return cudaSuccess;
}

cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
  const std::shared_ptr<GraphExec> in = runtime().execs.find(exec);
  const std::shared_ptr<Graph> from = runtime().graphs.find(graph);
  if (!in || !from || !info) return cudaErrorInvalidValue;
  *info = cudaGraphExecUpdateResultInfo();
  std::vector<GraphStep> next;
  bool same = steps_of(*from, &next);
  std::lock_guard<std::mutex> guard(in->mutex);
  const std::vector<GraphStep> &now = *in->steps;
  same = same && now.size() == next.size();
  info->result = cudaGraphExecUpdateErrorTopologyChanged;
  for (size_t i = 0; same && i < now.size(); ++i) {
    if (now[i].after != next[i].after) same = false;
    if (now[i].operation->type() != next[i].operation->type()) {
      info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
      info->errorNode = next[i].node;
      same = false;
    }
    if (same) next[i].node = now[i].node;
  }
  if (!same) return cudaErrorGraphExecUpdateFailure;
  in->steps = std::make_shared<const std::vector<GraphStep>>(std::move(next));
  info->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

// With handles null: how many there are; else the first *count of them.
cudaError_t give(const std::vector<cudaGraphNode_t> &all, cudaGraphNode_t *handles, size_t *count) {
  if (!count) return cudaErrorInvalidValue;
  if (handles) {
    for (size_t i = 0; i < *count; ++i) handles[i] = i < all.size() ? all[i] : nullptr;
    *count = std::min(*count, all.size());
  } else {
    *count = all.size();
  }
  return cudaSuccess;
}

cudaError_t list(cudaGraph_t graph, bool roots, cudaGraphNode_t *handles, size_t *count) {
  const std::shared_ptr<Graph> of = runtime().graphs.find(graph);
  if (!of) return cudaErrorInvalidValue;
  std::vector<cudaGraphNode_t> all;
  std::lock_guard<std::mutex> guard(of->mutex);
  for (const auto &node : of->nodes)
    if (!roots || node->after.empty()) all.push_back(node->handle);
  return give(all, handles, count);
}

// Adds a node whose operation `make` builds.
template <class Make>
cudaError_t add_made(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, Make make) {
  std::shared_ptr<const Operation> operation;
  const cudaError_t error = make(&operation);
  return error != cudaSuccess ? error : add(node, graph, after, count, std::move(operation));
}

template <class Replace, class Make>
cudaError_t replace_made(Replace replace, Make make) {
  std::shared_ptr<const Operation> operation;
  const cudaError_t error = make(&operation);
  return error != cudaSuccess ? error : replace(operation);
}

}  // namespace

TM_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  return entry(Api::cudaGraphCreate, [&] {
    if (!graph || flags) return cudaErrorInvalidValue;
    const std::shared_ptr<Graph> made = new_graph();
    if (!made) return cudaErrorMemoryAllocation;
    *graph = made->handle;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return entry(Api::cudaGraphDestroy,
               [&] { return runtime().graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

TM_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                             size_t count, const cudaKernelNodeParams *parameters) {
  return entry(Api::cudaGraphAddKernelNode, [&] {
    return add_made(node, graph, after, count, [&](auto *made) { return kernel_operation(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                             size_t count, const cudaMemcpy3DParms *parameters) {
  return entry(Api::cudaGraphAddMemcpyNode, [&] {
    return add_made(node, graph, after, count, [&](auto *made) { return copy_operation(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                               size_t count, void *to, const void *from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return entry(Api::cudaGraphAddMemcpyNode1D, [&] {
    return add_made(node, graph, after, count, [&](auto *made) { return linear_copy(to, from, bytes, kind, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                             size_t count, const cudaMemsetParams *parameters) {
  return entry(Api::cudaGraphAddMemsetNode, [&] {
    return add_made(node, graph, after, count, [&](auto *made) { return fill_operation(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                           size_t count, const cudaHostNodeParams *parameters) {
  return entry(Api::cudaGraphAddHostNode, [&] {
    return add_made(node, graph, after, count, [&](auto *made) { return host_node(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                            size_t count) {
  return entry(Api::cudaGraphAddEmptyNode, [&] { return add(node, graph, after, count, empty_operation()); });
}

TM_EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *after, size_t count, cudaEvent_t event) {
  return entry(Api::cudaGraphAddEventRecordNode, [&] {
    return runtime().events.find(event) ? add(node, graph, after, count, record_node(event)) : cudaErrorInvalidValue;
  });
}

TM_EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *after, size_t count, cudaGraph_t child) {
  return entry(Api::cudaGraphAddChildGraphNode, [&] {
    const std::shared_ptr<Graph> inner = runtime().graphs.find(child);
    std::vector<GraphStep> steps;
    if (!inner || child == graph || !steps_of(*inner, &steps)) return cudaErrorInvalidValue;
    auto fixed = std::make_shared<const std::vector<GraphStep>>(std::move(steps));
    return add(node, graph, after, count, std::make_shared<GraphOperation>(std::move(fixed)));
  });
}

TM_EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const cudaGraphEdgeData *, size_t count) {
  return entry(Api::cudaGraphAddDependencies, [&] {
    const std::shared_ptr<Graph> in = runtime().graphs.find(graph);
    if (!in || (count && (!from || !to))) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const std::shared_ptr<GraphNode> first = runtime().nodes.find(from[i]), then = runtime().nodes.find(to[i]);
      if (!first || !then || first == then || first->graph != in.get() || then->graph != in.get())
        return cudaErrorInvalidValue;
      std::lock_guard<std::mutex> guard(in->mutex);
      if (std::find(then->after.begin(), then->after.end(), first.get()) != then->after.end())
        return cudaErrorInvalidValue;
      then->after.push_back(first.get());
    }
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  return entry(Api::cudaGraphGetNodes, [&] { return list(graph, false, nodes, count); });
}

TM_EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  return entry(Api::cudaGraphGetRootNodes, [&] { return list(graph, true, nodes, count); });
}

TM_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
  return entry(Api::cudaGraphNodeGetType, [&] {
    const std::shared_ptr<GraphNode> found = runtime().nodes.find(node);
    if (!found || !type) return cudaErrorInvalidValue;
    *type = found->operation->type();
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  return entry(Api::cudaGraphInstantiate, [&] { return instantiate(exec, graph); });
}

TM_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  return entry(Api::cudaGraphInstantiateWithFlags, [&] { return instantiate(exec, graph); });
}

TM_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return entry(Api::cudaGraphExecDestroy,
               [&] { return runtime().execs.remove(exec) ? cudaSuccess : cudaErrorInvalidValue; });
}

TM_EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return entry(Api::cudaGraphUpload, [&] {
    return runtime().execs.find(exec) && stream_of(stream) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

TM_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return entry(Api::cudaGraphLaunch, [&] {
    const std::shared_ptr<GraphExec> found = runtime().execs.find(exec);
    if (!found) return cudaErrorInvalidValue;
    std::shared_ptr<const std::vector<GraphStep>> steps;
    {
      std::lock_guard<std::mutex> guard(found->mutex);
      steps = found->steps;
    }
    return submit(stream, std::make_shared<GraphOperation>(std::move(steps)));
  });
}

TM_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                          cudaGraphExecUpdateResultInfo *info) {
  return entry(Api::cudaGraphExecUpdate, [&] { return update(exec, graph, info); });
}

TM_EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *parameters) {
  return entry(Api::cudaGraphKernelNodeSetParams, [&] {
    return replace_made([&](const auto &made) { return replace_node(node, made); },
                        [&](auto *made) { return kernel_operation(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const cudaKernelNodeParams *parameters) {
  return entry(Api::cudaGraphExecKernelNodeSetParams, [&] {
    return replace_made([&](const auto &made) { return replace_step(exec, node, made); },
                        [&](auto *made) { return kernel_operation(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                         const void *from, size_t bytes, cudaMemcpyKind kind) {
  return entry(Api::cudaGraphExecMemcpyNodeSetParams1D, [&] {
    return replace_made([&](const auto &made) { return replace_step(exec, node, made); },
                        [&](auto *made) { return linear_copy(to, from, bytes, kind, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const cudaMemsetParams *parameters) {
  return entry(Api::cudaGraphExecMemsetNodeSetParams, [&] {
    return replace_made([&](const auto &made) { return replace_step(exec, node, made); },
                        [&](auto *made) { return fill_operation(parameters, made); });
  });
}

TM_EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const cudaHostNodeParams *parameters) {
  return entry(Api::cudaGraphExecHostNodeSetParams, [&] {
    return replace_made([&](const auto &made) { return replace_step(exec, node, made); },
                        [&](auto *made) { return host_node(parameters, made); });
  });
}
