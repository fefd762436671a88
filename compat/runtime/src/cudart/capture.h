// Stream capture: work put on a capturing stream becomes nodes of a graph.
#ifndef TM_CUDART_CAPTURE_H
#define TM_CUDART_CAPTURE_H

#include <atomic>
#include <memory>
#include <vector>

#include "stream.h"

namespace tile_migrate {

struct Graph;
struct Event;

struct Capture {
  std::shared_ptr<Graph> graph;
  cudaGraph_t handle = nullptr;
  bool into_existing = false;  // cudaStreamBeginCaptureToGraph
  std::weak_ptr<Stream> origin;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::atomic<bool> invalidated{false};
  uint64_t id = 0;
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> joined;  // under mutex: every stream that takes part
};

// Cheap test that lets programs without graphs skip the rest.
class Captures {
 public:
  static bool any() { return count.load(std::memory_order_acquire) != 0; }
  static std::atomic<int> count;
};

// *taken: the stream captures, and the work became a node. wait: the caller would wait for it.
cudaError_t capture_operation(Stream &stream, const std::shared_ptr<const Operation> &operation,
                              bool wait, bool *taken);
cudaError_t capture_record(Event &event, Stream &stream, bool *taken);
cudaError_t capture_wait(Event &event, Stream &stream, bool *taken);
// What waiting for a capturing stream (or querying it) is.
cudaError_t capture_forbids_wait(Stream &stream);

}  // namespace tile_migrate

#endif
