// The runtime's state and the few functions that its parts, and the launch seam, share.
#ifndef TM_CUDART_INTERNAL_H
#define TM_CUDART_INTERNAL_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "allocation.h"
#include "array.h"
#include "cuda_types.h"
#include "event.h"
#include "handles.h"
#include "stream.h"

namespace tile_migrate {

enum class Api : unsigned {
#define TM_API_NAME(name) name,
#include "names.inc"
#undef TM_API_NAME
  count
};

// --- errors ---------------------------------------------------------------------------------------

// Sets this thread's last error (but for success) and counts the call; returns `error`.
cudaError_t leave(Api api, cudaError_t error) noexcept;
// The error that an earlier kernel left on the current device, until cudaDeviceReset.
cudaError_t device_fault() noexcept;
void set_last_error(cudaError_t error) noexcept;
// What the stubs return.
cudaError_t refuse(Api api) noexcept;

struct NoDevice {};  // thrown by current_device

// The frame of every API function: faults stick, no exception leaves.
template <class Body>
cudaError_t entry(Api api, Body &&body) noexcept {
  try {
    if (in_callback()) return leave(api, cudaErrorNotPermitted);
    const cudaError_t fault = device_fault();
    return leave(api, fault != cudaSuccess ? fault : body());
  } catch (const NoDevice &) {
    return leave(api, cudaErrorNoDevice);
  } catch (const std::bad_alloc &) {
    return leave(api, cudaErrorMemoryAllocation);
  }
}

// --- devices --------------------------------------------------------------------------------------

struct MemoryPool;
struct Graph;
struct GraphExec;
struct GraphNode;

struct Device {
  explicit Device(int index);
  const int index;
  std::mutex order;  // held while work is put on a stream: the default stream's order needs it
  std::shared_ptr<Stream> legacy;
  std::vector<std::weak_ptr<Stream>> streams;  // under order
  std::atomic<int> fault{cudaSuccess};
  Arena arena;
  std::shared_ptr<MemoryPool> default_pool, pool;  // under Runtime::mutex
  cudaMemPool_t default_pool_handle = nullptr, pool_handle = nullptr;
  std::atomic<uint64_t> peers{0};  // devices whose memory this one may access
  std::atomic<unsigned> flags{cudaDeviceScheduleAuto};
  std::atomic<size_t> limits[cudaLimitPersistingL2CacheSize + 1];
};

struct Runtime {
  Runtime();
  std::vector<std::unique_ptr<Device>> devices;
  AllocationTable allocations;
  Arrays arrays;
  Handles<Stream, cudaStream_t, 1> streams;
  Handles<Event, cudaEvent_t, 2> events;
  Handles<Graph, cudaGraph_t, 3> graphs;
  Handles<GraphExec, cudaGraphExec_t, 4> execs;
  Handles<GraphNode, cudaGraphNode_t, 5> nodes;
  Handles<MemoryPool, cudaMemPool_t, 6> pools;
  std::mutex mutex;
  std::vector<std::shared_ptr<MemoryPool>> kept_pools;  // under mutex
  void keep(std::shared_ptr<MemoryPool> pool) {
    std::lock_guard<std::mutex> guard(mutex);
    kept_pools.push_back(std::move(pool));
  }
  const bool synchronous;   // TILE_MIGRATE_SYNC=1
  const unsigned generation;  // counts the forks before
};

Runtime &runtime();
Device &current_device();
int current_device_index() noexcept;
void set_current_device(int index) noexcept;
// Device of that index; null if there is none.
Device *device_at(int index);
void reset_device(Device &device);
void fill_properties(cudaDeviceProp &properties, int device);
cudaError_t device_attribute(int *value, int attribute, int device);

// While alive, stream 0 is this thread's own stream (what the _ptsz and _ptds names mean).
class PerThreadDefault {
 public:
  PerThreadDefault() noexcept;
  ~PerThreadDefault();

 private:
  bool before_;
};

// --- memory ---------------------------------------------------------------------------------------

// For the launch seam: the allocation that holds `pointer`.
bool find_allocation(const void *pointer, void **base, size_t *bytes, int *device);
cudaError_t allocate(Device &device, MemoryKind kind, size_t bytes, void **pointer);
cudaError_t release(void *pointer, bool (*accepts)(MemoryKind));

// --- programs' variables ---------------------------------------------------------------------------

// Address and size of a __device__ variable known by its host address.
cudaError_t find_symbol(const void *symbol, void **address, size_t *bytes);

// --- kernels --------------------------------------------------------------------------------------

// The kernel of a host function that nvcc-built code registered, and what it called it. Null with a
// name: no code of it here, or several files have such a kernel and which is meant cannot be told.
struct Kernel;
Kernel *registered_kernel(const void *host_function, const char **name);

}  // namespace tile_migrate

#endif
