// Events: a place in a stream's order and the time when it was reached.
#ifndef TM_CUDART_EVENT_H
#define TM_CUDART_EVENT_H

#include <atomic>
#include <memory>
#include <mutex>

#include "stream.h"

namespace tile_migrate {

struct Stamp {
  std::atomic<int64_t> nanoseconds{0};
};

struct Event {
  Event(int device, unsigned flags) : device(device), flags(flags) {}
  const int device;
  const unsigned flags;
  std::mutex mutex;
  Ticket place;                  // of the last record
  std::shared_ptr<Stamp> stamp;  // null: never recorded
  std::weak_ptr<Capture> capture;  // recorded last in a capture, after these nodes
  std::vector<GraphNode *> captured;
};

// The operation that a record is; it holds its time in `stamp`.
std::shared_ptr<const Operation> record_operation(std::shared_ptr<Stamp> stamp);
cudaError_t record(Event &event, Stream &stream);
cudaError_t wait_for(Event &event, Stream &stream);
// For nodes of graphs: the record happens where the node runs.
std::shared_ptr<const Operation> record_node(cudaEvent_t event);
std::shared_ptr<const Operation> wait_node(cudaEvent_t event);
std::shared_ptr<const Operation> empty_operation();

}  // namespace tile_migrate

#endif
