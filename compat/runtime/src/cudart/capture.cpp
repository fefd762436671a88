#include "capture.h"

#include <algorithm>
#include <set>

#include "graph.h"
#include "internal.h"

namespace tile_migrate {

std::atomic<int> Captures::count{0};

namespace {

std::atomic<uint64_t> next_id{1};
// Streams that capture, of which the default stream's work would have to wait.
std::atomic<int> blocking_streams{0};

bool blocks_default(const Stream &stream) { return !stream.legacy && !(stream.flags & cudaStreamNonBlocking); }

// Under the stream's capture_mutex.
void join(Stream &stream, const std::shared_ptr<Capture> &capture) {
  stream.capture = capture;
  stream.tail.clear();
  if (blocks_default(stream)) blocking_streams.fetch_add(1);
  Captures::count.fetch_add(1);
}

void part(Stream &stream) {
  stream.capture.reset();
  stream.tail.clear();
  if (blocks_default(stream)) blocking_streams.fetch_sub(1);
  Captures::count.fetch_sub(1);
}

void add_tail(std::vector<GraphNode *> &tail, const std::vector<GraphNode *> &more) {
  for (GraphNode *node : more)
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
}

void collect(GraphNode *node, std::set<GraphNode *> *seen) {
  std::vector<GraphNode *> waiting{node};
  while (!waiting.empty()) {
    GraphNode *next = waiting.back();
    waiting.pop_back();
    if (!seen->insert(next).second) continue;
    waiting.insert(waiting.end(), next->after.begin(), next->after.end());
  }
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  const std::shared_ptr<Stream> stream = stream_of(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
  std::lock_guard<std::mutex> guard(stream->capture_mutex);
  if (stream->capture) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->graph = new_graph();
  if (!capture->graph) return cudaErrorMemoryAllocation;
  capture->handle = capture->graph->handle;
  capture->origin = stream;
  capture->mode = mode;
  capture->id = next_id.fetch_add(1);
  capture->joined.push_back(stream);
  join(*stream, capture);
  return cudaSuccess;
}

cudaError_t end(cudaStream_t handle, cudaGraph_t *graph) {
  if (!graph) return cudaErrorInvalidValue;
  *graph = nullptr;
  const std::shared_ptr<Stream> stream = stream_of(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  std::shared_ptr<Capture> capture;
  std::set<GraphNode *> reached;
  {
    std::lock_guard<std::mutex> guard(stream->capture_mutex);
    capture = stream->capture;
    if (!capture) return cudaErrorIllegalState;
    if (capture->origin.lock() != stream) return cudaErrorStreamCaptureUnmatched;
    std::lock_guard<std::mutex> nodes(capture->graph->mutex);
    for (GraphNode *node : stream->tail) collect(node, &reached);
  }
  bool unjoined = false;
  std::vector<std::weak_ptr<Stream>> all;
  {
    std::lock_guard<std::mutex> guard(capture->mutex);
    all.swap(capture->joined);
  }
  for (const auto &weak : all) {
    const std::shared_ptr<Stream> other = weak.lock();
    if (!other) continue;
    std::lock_guard<std::mutex> guard(other->capture_mutex);
    if (other->capture != capture) continue;
    for (GraphNode *node : other->tail) unjoined = unjoined || !reached.count(node);
    part(*other);
  }
  const cudaError_t error = capture->invalidated ? cudaErrorStreamCaptureInvalidated
                            : unjoined           ? cudaErrorStreamCaptureUnjoined
                                                 : cudaSuccess;
  if (error != cudaSuccess)
    runtime().graphs.remove(capture->handle);
  else
    *graph = capture->handle;
  return error;
}

// The capture that the stream takes part in.
std::shared_ptr<Capture> capture_of(Stream &stream) {
  std::lock_guard<std::mutex> guard(stream.capture_mutex);
  return stream.capture;
}

}  // namespace

bool Stream::capturing() { return Captures::any() && capture_of(*this) != nullptr; }

cudaError_t capture_operation(Stream &stream, const std::shared_ptr<const Operation> &operation, bool wait,
                              bool *taken) {
  std::lock_guard<std::mutex> guard(stream.capture_mutex);
  const std::shared_ptr<Capture> capture = stream.capture;
  if (!capture)  // the default stream would have to wait for what is only being recorded
    return stream.legacy && blocking_streams.load() ? cudaErrorStreamCaptureImplicit : cudaSuccess;
  *taken = true;
  if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (wait) {
    capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  GraphNode *node = add_node(*capture->graph, operation, stream.tail);
  if (!node) return cudaErrorMemoryAllocation;
  stream.tail.assign(1, node);
  return cudaSuccess;
}

cudaError_t capture_record(Event &event, Stream &stream, bool *taken) {
  std::lock_guard<std::mutex> guard(stream.capture_mutex);
  if (!stream.capture) return stream.legacy && blocking_streams.load() ? cudaErrorStreamCaptureImplicit : cudaSuccess;
  *taken = true;
  if (stream.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  std::lock_guard<std::mutex> own(event.mutex);
  event.capture = stream.capture;
  event.captured = stream.tail;
  return cudaSuccess;
}

cudaError_t capture_wait(Event &event, Stream &stream, bool *taken) {
  std::shared_ptr<Capture> recorded;
  std::vector<GraphNode *> captured;
  {
    std::lock_guard<std::mutex> own(event.mutex);
    recorded = event.capture.lock();
    captured = event.captured;
  }
  std::lock_guard<std::mutex> guard(stream.capture_mutex);
  if (!recorded) {
    if (!stream.capture) return cudaSuccess;
    *taken = true;
    stream.capture->invalidated = true;
    return cudaErrorStreamCaptureIsolation;
  }
  *taken = true;
  if (recorded->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (stream.legacy) return cudaErrorStreamCaptureImplicit;
  if (stream.capture && stream.capture != recorded) {
    stream.capture->invalidated = true;
    recorded->invalidated = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (!stream.capture) {
    join(stream, recorded);
    std::lock_guard<std::mutex> all(recorded->mutex);
    recorded->joined.push_back(stream.weak_from_this());
  }
  add_tail(stream.tail, captured);
  return cudaSuccess;
}

cudaError_t capture_forbids_wait(Stream &stream) {
  if (!Captures::any()) return cudaSuccess;
  std::lock_guard<std::mutex> guard(stream.capture_mutex);
  if (stream.capture) {
    stream.capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  return stream.legacy && blocking_streams.load() ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return entry(Api::cudaStreamBeginCapture, [&] { return begin(stream, mode); });
}

TM_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return entry(Api::cudaStreamEndCapture, [&] { return end(stream, graph); });
}

TM_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  return entry(Api::cudaStreamIsCapturing, [&] {
    if (!status) return cudaErrorInvalidValue;
    const std::shared_ptr<Stream> on = stream_of(stream);
    if (!on) return cudaErrorInvalidResourceHandle;
    const std::shared_ptr<Capture> capture = capture_of(*on);
    if (!capture && on->legacy && blocking_streams.load()) return cudaErrorStreamCaptureImplicit;
    *status = !capture               ? cudaStreamCaptureStatusNone
              : capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                     : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
