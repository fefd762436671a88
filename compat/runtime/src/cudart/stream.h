// Streams: ordered queues of work. Each has a worker thread from its first asynchronous work on; work
// that the caller waits for runs in the caller's own thread, at its place in the order.
#ifndef TM_CUDART_STREAM_H
#define TM_CUDART_STREAM_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_types.h"

namespace tile_migrate {

struct Device;
struct Capture;
struct GraphNode;
class Stream;

// A place in a stream's order. Reached when the work numbered so, and all before it, has finished.
struct Ticket {
  std::shared_ptr<Stream> stream;
  uint64_t number = 0;
  bool reached() const;
};

// What a stream, or a node of a graph, does. Immutable once submitted; may run many times.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual cudaError_t run(cudaStream_t stream, Device &device) const = 0;
  virtual cudaGraphNodeType type() const = 0;
  // So little work that waking a worker would cost more.
  virtual bool small() const { return false; }
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Device &device, unsigned flags, int priority, bool legacy);

  // Puts work at the end; with wait, returns when it has finished, with its error.
  cudaError_t submit(std::shared_ptr<const Operation> operation, bool wait,
                     const Ticket *also_after = nullptr, Ticket *place = nullptr);
  // Waits until everything submitted so far has finished.
  void synchronize();
  Ticket last();
  bool idle() const { return finished_.load(std::memory_order_acquire) == issued_.load(std::memory_order_acquire); }
  static void wait(const Ticket &ticket, bool help);
  // The worker ends after the work submitted so far.
  void close();
  // No more work is started: the process ends.
  void abandon();

  Device &device;
  const unsigned flags;
  const int priority;
  const bool legacy;
  const uint64_t id;
  cudaStream_t handle = nullptr;

  // Under capture_mutex: the graph that takes this stream's work, and the work that comes last in it.
  std::mutex capture_mutex;
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode *> tail;
  bool capturing();

 private:
  friend struct Ticket;
  struct Task {
    uint64_t number;
    std::shared_ptr<const Operation> operation;
    std::vector<Ticket> after;
  };
  bool blocking() const { return !legacy && !(flags & cudaStreamNonBlocking); }
  std::vector<Ticket> order_after(const Ticket *also_after);
  bool step(std::unique_lock<std::mutex> &lock);
  cudaError_t perform(const Task &task);
  void finish(std::unique_lock<std::mutex> &lock, uint64_t number);
  void work();
  void start_worker();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::atomic<uint64_t> issued_{0}, finished_{0};
  bool running_ = false, has_worker_ = false, closed_ = false, abandoned_ = false, sleeping_ = false;
  unsigned waiting_ = 0;
};

// The stream behind a handle, 0 and the special handles included; null if it is none.
std::shared_ptr<Stream> stream_of(cudaStream_t handle);
// A new stream of the current device; null if there are too many.
std::shared_ptr<Stream> new_stream(unsigned flags, int priority);
std::shared_ptr<const Operation> host_operation(cudaHostFn_t function, void *data);
cudaError_t add_callback(cudaStream_t stream, cudaStreamCallback_t function, void *data);
// Whether this thread runs a host function or callback, which must not call the API.
bool in_callback() noexcept;
// Puts an operation on a stream, or into the graph that captures it.
cudaError_t submit(cudaStream_t stream, std::shared_ptr<const Operation> operation, bool wait = false);
// Waits for all work of a device.
void synchronize(Device &device);
// The error of an operation becomes the device's, which sticks.
void report_fault(Device &device, cudaError_t error) noexcept;

}  // namespace tile_migrate

#endif
