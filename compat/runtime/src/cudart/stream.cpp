#include "stream.h"

#include <pthread.h>
#include <system_error>
#include <thread>

#include "../engine/engine.h"
#include "capture.h"
#include "internal.h"

namespace tile_migrate {

namespace {
std::atomic<uint64_t> next_id{1};
thread_local bool per_thread_default = false;
}  // namespace

Stream::Stream(Device &device, unsigned flags, int priority, bool legacy)
    : device(device), flags(flags), priority(priority), legacy(legacy), id(next_id++) {}

bool Ticket::reached() const {
  return !stream || stream->finished_.load(std::memory_order_acquire) >= number;
}

// What other streams must have finished before work submitted now may start: the default stream
// comes after everything on blocking streams, and they after it. device.order is held.
std::vector<Ticket> Stream::order_after(const Ticket *also_after) {
  std::vector<Ticket> after;
  if (legacy) {
    auto &all = device.streams;
    size_t kept = 0;
    for (auto &weak : all) {
      const std::shared_ptr<Stream> other = weak.lock();
      if (!other) continue;
      if (other->blocking() && !other->idle()) after.push_back(other->last());
      if (&all[kept] != &weak) all[kept] = weak;
      ++kept;
    }
    all.resize(kept);
  } else if (blocking() && device.legacy && !device.legacy->idle()) {
    after.push_back(device.legacy->last());
  }
  if (also_after && !also_after->reached()) after.push_back(*also_after);
  return after;
}

cudaError_t Stream::submit(std::shared_ptr<const Operation> operation, bool wait,
                           const Ticket *also_after, Ticket *place) {
  Task task;
  task.operation = std::move(operation);
  std::unique_lock<std::mutex> order(device.order);
  task.after = order_after(also_after);
  std::unique_lock<std::mutex> lock(mutex_);
  const bool first = queue_.empty() && !running_ &&
                     finished_.load(std::memory_order_relaxed) == issued_.load(std::memory_order_relaxed);
  task.number = issued_.load(std::memory_order_relaxed) + 1;
  const bool here = wait || runtime().synchronous || (first && task.after.empty() && task.operation->small());
  if (!here) start_worker();
  if (!here) queue_.push_back(task);
  issued_.store(task.number, std::memory_order_release);
  if (place) *place = Ticket{shared_from_this(), task.number};
  order.unlock();
  if (!here) {
    if (sleeping_) {
      lock.unlock();
      changed_.notify_all();
    }
    return cudaSuccess;
  }
  while (running_ || finished_.load(std::memory_order_relaxed) + 1 != task.number) {
    if (step(lock)) continue;
    ++waiting_;
    changed_.wait(lock);
    --waiting_;
  }
  running_ = true;
  lock.unlock();
  const cudaError_t error = perform(task);
  lock.lock();
  finish(lock, task.number);
  return error;
}

cudaError_t Stream::perform(const Task &task) {
  for (const Ticket &ticket : task.after) wait(ticket, false);
  // After a fault the device does nothing more, but order and events still advance.
  const int fault = device.fault.load(std::memory_order_acquire);
  if (fault != cudaSuccess && task.operation->type() != cudaGraphNodeTypeHost &&
      task.operation->type() != cudaGraphNodeTypeEventRecord)
    return cudaError_t(fault);
  cudaError_t error;
  try {
    error = task.operation->run(handle, device);
  } catch (const std::bad_alloc &) {
    error = cudaErrorMemoryAllocation;
  }
  if (error != cudaSuccess) report_fault(device, error);
  return error;
}

void Stream::finish(std::unique_lock<std::mutex> &, uint64_t number) {
  running_ = false;
  finished_.store(number, std::memory_order_release);
  if (waiting_ || sleeping_) changed_.notify_all();
}

// Runs the next task in this thread, if there is one that nobody runs. The lock is given up meanwhile.
bool Stream::step(std::unique_lock<std::mutex> &lock) {
  if (running_ || queue_.empty() ||
      queue_.front().number != finished_.load(std::memory_order_relaxed) + 1)
    return false;
  const Task task = std::move(queue_.front());
  queue_.pop_front();
  running_ = true;
  const bool dropped = abandoned_;
  lock.unlock();
  if (!dropped) perform(task);
  lock.lock();
  finish(lock, task.number);
  return true;
}

void Stream::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (step(lock)) continue;
    if (closed_ && queue_.empty()) {
      has_worker_ = false;
      return;
    }
    sleeping_ = true;
    changed_.wait(lock);
    sleeping_ = false;
  }
}

void Stream::start_worker() {
  if (has_worker_) return;
  std::thread([self = shared_from_this()] {
    pthread_setname_np(pthread_self(), "tm-stream");
    set_current_device(self->device.index);
    self->work();
  }).detach();
  has_worker_ = true;
}

void Stream::close() {
  std::lock_guard<std::mutex> guard(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Stream::abandon() {
  std::lock_guard<std::mutex> guard(mutex_);
  closed_ = abandoned_ = true;
  changed_.notify_all();
}

void Stream::wait(const Ticket &ticket, bool help) {
  if (ticket.reached()) return;
  Stream &stream = *ticket.stream;
  std::unique_lock<std::mutex> lock(stream.mutex_);
  while (stream.finished_.load(std::memory_order_relaxed) < ticket.number) {
    if (help && stream.step(lock)) continue;
    ++stream.waiting_;
    stream.changed_.wait(lock);
    --stream.waiting_;
  }
}

Ticket Stream::last() {
  return Ticket{shared_from_this(), issued_.load(std::memory_order_acquire)};
}

void Stream::synchronize() { wait(last(), true); }

void synchronize(Device &device) {
  std::vector<Ticket> tickets;
  {
    std::lock_guard<std::mutex> guard(device.order);
    tickets.push_back(device.legacy->last());
    for (const auto &weak : device.streams)
      if (const std::shared_ptr<Stream> stream = weak.lock()) tickets.push_back(stream->last());
  }
  for (const Ticket &ticket : tickets) Stream::wait(ticket, true);
  flush_device_output();
}

void report_fault(Device &device, cudaError_t error) noexcept {
  int none = cudaSuccess;
  device.fault.compare_exchange_strong(none, error, std::memory_order_acq_rel);
}

PerThreadDefault::PerThreadDefault() noexcept : before_(per_thread_default) { per_thread_default = true; }
PerThreadDefault::~PerThreadDefault() { per_thread_default = before_; }

namespace {

std::shared_ptr<Stream> make_stream(Device &device, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(device, flags, priority, false);
  std::lock_guard<std::mutex> guard(device.order);
  device.streams.push_back(stream);
  return stream;
}

// This thread's own stream on each device; its worker ends with the thread.
struct ThreadStreams {
  unsigned generation = 0;
  std::vector<std::shared_ptr<Stream>> streams;
  ~ThreadStreams() {
    for (const auto &stream : streams)
      if (stream) stream->close();
  }
};
thread_local ThreadStreams thread_streams;
thread_local bool callback_running = false;

std::shared_ptr<Stream> thread_stream() {
  ThreadStreams &own = thread_streams;
  Runtime &all = runtime();
  if (own.generation != all.generation) {
    own.streams.clear();
    own.generation = all.generation;
  }
  Device &device = current_device();
  own.streams.resize(all.devices.size());
  std::shared_ptr<Stream> &stream = own.streams[size_t(device.index)];
  if (!stream) {
    stream = make_stream(device, cudaStreamDefault, 0);
    stream->handle = cudaStreamPerThread;
  }
  return stream;
}

// A host function, kept from calling the API.
class HostOperation final : public Operation {
 public:
  HostOperation(cudaHostFn_t function, void *data) : function_(function), data_(data) {}
  cudaError_t run(cudaStream_t, Device &device) const override {
    if (device.fault.load() != cudaSuccess) return cudaSuccess;
    callback_running = true;
    function_(data_);
    callback_running = false;
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeHost; }

 private:
  const cudaHostFn_t function_;
  void *const data_;
};

// Called with the stream's state, even after a fault.
class CallbackOperation final : public Operation {
 public:
  CallbackOperation(cudaStreamCallback_t function, cudaStream_t stream, void *data)
      : function_(function), stream_(stream), data_(data) {}
  cudaError_t run(cudaStream_t, Device &device) const override {
    callback_running = true;
    function_(stream_, cudaError_t(device.fault.load()), data_);
    callback_running = false;
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeHost; }

 private:
  const cudaStreamCallback_t function_;
  const cudaStream_t stream_;
  void *const data_;
};

}  // namespace

bool in_callback() noexcept { return callback_running; }

std::shared_ptr<const Operation> host_operation(cudaHostFn_t function, void *data) {
  return std::make_shared<HostOperation>(function, data);
}

std::shared_ptr<Stream> stream_of(cudaStream_t handle) {
  if (handle == cudaStreamPerThread || (!handle && per_thread_default)) return thread_stream();
  if (!handle || handle == cudaStreamLegacy) return current_device().legacy;
  return runtime().streams.find(handle);
}

std::shared_ptr<Stream> new_stream(unsigned flags, int priority) {
  Runtime &all = runtime();
  std::shared_ptr<Stream> stream = make_stream(current_device(), flags, priority);
  stream->handle = all.streams.add(stream);
  return stream->handle ? stream : nullptr;
}

cudaError_t submit(cudaStream_t handle, std::shared_ptr<const Operation> operation, bool wait) {
  const std::shared_ptr<Stream> stream = stream_of(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (Captures::any()) {
    bool taken = false;
    const cudaError_t error = capture_operation(*stream, operation, wait, &taken);
    if (taken || error != cudaSuccess) return error;
  }
  const cudaError_t error = stream->submit(std::move(operation), wait);
  if (wait) flush_device_output();
  return error;
}

cudaError_t add_callback(cudaStream_t handle, cudaStreamCallback_t function, void *data) {
  return submit(handle, std::make_shared<CallbackOperation>(function, handle, data));
}

}  // namespace tile_migrate
