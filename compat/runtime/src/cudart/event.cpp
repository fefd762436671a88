#include "event.h"

#include <chrono>

#include "../engine/engine.h"
#include "capture.h"
#include "internal.h"

namespace tile_migrate {

namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class RecordOperation final : public Operation {
 public:
  explicit RecordOperation(std::shared_ptr<Stamp> stamp) : stamp_(std::move(stamp)) {}
  cudaError_t run(cudaStream_t, Device &) const override {
    stamp_->nanoseconds.store(now(), std::memory_order_release);
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeEventRecord; }
  bool small() const override { return true; }

 private:
  const std::shared_ptr<Stamp> stamp_;
};

class EmptyOperation final : public Operation {
 public:
  cudaError_t run(cudaStream_t, Device &) const override { return cudaSuccess; }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeEmpty; }
  bool small() const override { return true; }
};

// Runs inside a graph: the event is recorded as done, since the work before the node is.
class RecordNodeOperation final : public Operation {
 public:
  explicit RecordNodeOperation(cudaEvent_t event) : event(event) {}
  cudaError_t run(cudaStream_t, Device &) const override {
    const std::shared_ptr<Event> found = runtime().events.find(event);
    if (!found) return cudaErrorInvalidResourceHandle;
    auto stamp = std::make_shared<Stamp>();
    stamp->nanoseconds.store(now(), std::memory_order_release);
    std::lock_guard<std::mutex> guard(found->mutex);
    found->stamp = stamp;
    found->place = Ticket();
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeEventRecord; }
  const cudaEvent_t event;
};

class WaitNodeOperation final : public Operation {
 public:
  explicit WaitNodeOperation(cudaEvent_t event) : event(event) {}
  cudaError_t run(cudaStream_t, Device &) const override {
    const std::shared_ptr<Event> found = runtime().events.find(event);
    if (!found) return cudaErrorInvalidResourceHandle;
    Ticket place;
    {
      std::lock_guard<std::mutex> guard(found->mutex);
      place = found->place;
    }
    Stream::wait(place, false);
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeWaitEvent; }
  const cudaEvent_t event;
};

}  // namespace

std::shared_ptr<const Operation> record_operation(std::shared_ptr<Stamp> stamp) {
  return std::make_shared<RecordOperation>(std::move(stamp));
}
std::shared_ptr<const Operation> record_node(cudaEvent_t event) {
  return std::make_shared<RecordNodeOperation>(event);
}
std::shared_ptr<const Operation> wait_node(cudaEvent_t event) {
  return std::make_shared<WaitNodeOperation>(event);
}
std::shared_ptr<const Operation> empty_operation() { return std::make_shared<EmptyOperation>(); }

cudaError_t record(Event &event, Stream &stream) {
  if (Captures::any()) {
    bool taken = false;
    const cudaError_t error = capture_record(event, stream, &taken);
    if (taken || error != cudaSuccess) return error;
  }
  if (event.device != stream.device.index) return cudaErrorInvalidResourceHandle;
  auto stamp = std::make_shared<Stamp>();
  std::lock_guard<std::mutex> guard(event.mutex);
  stream.submit(record_operation(stamp), false, nullptr, &event.place);
  event.stamp = std::move(stamp);
  event.capture.reset();
  return cudaSuccess;
}

cudaError_t wait_for(Event &event, Stream &stream) {
  if (Captures::any()) {
    bool taken = false;
    const cudaError_t error = capture_wait(event, stream, &taken);
    if (taken || error != cudaSuccess) return error;
  }
  Ticket place;
  {
    std::lock_guard<std::mutex> guard(event.mutex);
    if (!event.stamp) return cudaSuccess;
    place = event.place;
  }
  if (place.reached()) return cudaSuccess;
  return stream.submit(empty_operation(), false, &place);
}

namespace {

cudaError_t create(cudaEvent_t *event, unsigned flags) {
  if (!event || (flags & ~7u)) return cudaErrorInvalidValue;
  if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
  *event = runtime().events.add(std::make_shared<Event>(current_device_index(), flags));
  return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const std::shared_ptr<Event> found = runtime().events.find(event);
  const std::shared_ptr<Stream> on = stream_of(stream);
  if (!found || !on) return cudaErrorInvalidResourceHandle;
  if (flags & ~unsigned(cudaEventRecordExternal)) return cudaErrorInvalidValue;
  return record(*found, *on);
}

}  // namespace
}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return entry(Api::cudaEventCreate, [&] { return create(event, cudaEventDefault); });
}

TM_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return entry(Api::cudaEventCreateWithFlags, [&] { return create(event, flags); });
}

TM_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return entry(Api::cudaEventDestroy, [&] {
    return runtime().events.remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

TM_EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return entry(Api::cudaEventRecord, [&] { return record(event, stream, 0); });
}

TM_EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return entry(Api::cudaEventRecordWithFlags, [&] { return record(event, stream, flags); });
}

TM_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
  return entry(Api::cudaEventQuery, [&] {
    const std::shared_ptr<Event> found = runtime().events.find(event);
    if (!found) return cudaErrorInvalidResourceHandle;
    std::lock_guard<std::mutex> guard(found->mutex);
    if (!found->capture.expired()) return cudaErrorCapturedEvent;
    return found->place.reached() ? cudaSuccess : cudaErrorNotReady;
  });
}

TM_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return entry(Api::cudaEventSynchronize, [&] {
    const std::shared_ptr<Event> found = runtime().events.find(event);
    if (!found) return cudaErrorInvalidResourceHandle;
    Ticket place;
    {
      std::lock_guard<std::mutex> guard(found->mutex);
      if (!found->capture.expired()) return cudaErrorCapturedEvent;
      place = found->place;
    }
    Stream::wait(place, true);
    flush_device_output();
    return device_fault();
  });
}

TM_EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  return entry(Api::cudaEventElapsedTime, [&] {
    const std::shared_ptr<Event> first = runtime().events.find(start), last = runtime().events.find(stop);
    if (!first || !last) return cudaErrorInvalidResourceHandle;
    if (!milliseconds) return cudaErrorInvalidValue;
    std::shared_ptr<Stamp> from, to;
    for (Event *event : {first.get(), last.get()}) {
      std::lock_guard<std::mutex> guard(event->mutex);
      if (!event->stamp || (event->flags & cudaEventDisableTiming)) return cudaErrorInvalidResourceHandle;
      if (!event->place.reached()) return cudaErrorNotReady;
      (event == first.get() ? from : to) = event->stamp;
      if (first == last) to = from;
    }
    *milliseconds = float(double(to->nanoseconds.load() - from->nanoseconds.load()) * 1e-6);
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return entry(Api::cudaStreamWaitEvent, [&] {
    const std::shared_ptr<Event> found = runtime().events.find(event);
    const std::shared_ptr<Stream> on = stream_of(stream);
    if (!found || !on) return cudaErrorInvalidResourceHandle;
    if (flags & ~unsigned(cudaEventWaitExternal)) return cudaErrorInvalidValue;
    return wait_for(*found, *on);
  });
}
