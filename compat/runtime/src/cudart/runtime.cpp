// The runtime's life: made at the first call, made anew in a forked child, told when the process ends.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <time.h>

#include "../engine/engine.h"
#include "../launch/launch.h"
#include "internal.h"
#include "pool.h"
#include "trace.h"

namespace tile_migrate {

namespace {

std::atomic<Runtime *> instance{nullptr};
std::atomic<unsigned> generations{0};
std::mutex instance_mutex;
thread_local int current = 0;

bool is_set(const char *name) {
  const char *value = std::getenv(name);
  return value && *value && std::strcmp(value, "0") != 0;
}

size_t configured_devices() {
  const char *text = std::getenv("TILE_MIGRATE_DEVICES");
  const long count = text ? std::strtol(text, nullptr, 10) : 1;
  return size_t(std::clamp(count, 0L, 64L));
}

// Work that is still queued is dropped; what runs gets a moment to end, since the program's own
// objects are about to go.
void at_exit() {
  Runtime *all = instance.load(std::memory_order_acquire);
  if (all) {
    std::vector<Ticket> running;
    for (const auto &device : all->devices) {
      std::lock_guard<std::mutex> guard(device->order);
      std::vector<std::shared_ptr<Stream>> streams{device->legacy};
      for (const auto &weak : device->streams) streams.push_back(weak.lock());
      for (const auto &stream : streams) {
        if (!stream) continue;
        stream->abandon();
        running.push_back(stream->last());
      }
    }
    const timespec pause{0, 1000000};
    for (int waited = 0; waited < 500; ++waited) {
      if (std::all_of(running.begin(), running.end(), [](const Ticket &ticket) { return ticket.reached(); })) break;
      nanosleep(&pause, nullptr);
    }
  }
  flush_device_output();
  write_trace();
}

// In the child none of the parent's threads, locks or device memory exist.
void in_child() {
  instance.store(nullptr, std::memory_order_release);
  generations.fetch_add(1);
  current = 0;
  set_last_error(cudaSuccess);
  instance_mutex.unlock();
}

void before_fork() { instance_mutex.lock(); }
void in_parent() { instance_mutex.unlock(); }

Runtime &start() {
  std::lock_guard<std::mutex> guard(instance_mutex);
  Runtime *all = instance.load(std::memory_order_acquire);
  if (all) return *all;
  all = new Runtime;  // never destroyed: threads may use it until the process is gone
  if (all->generation == 0) {
    pthread_atfork(before_fork, in_parent, in_child);
    std::atexit(at_exit);
  }
  install_fault_handlers();
  instance.store(all, std::memory_order_release);
  return *all;
}

}  // namespace

Device::Device(int index) : index(index) {
  legacy = std::make_shared<Stream>(*this, cudaStreamDefault, 0, true);
  limits[cudaLimitStackSize] = 1024;
  limits[cudaLimitPrintfFifoSize] = size_t(1) << 20;
  limits[cudaLimitMallocHeapSize] = size_t(8) << 20;
  limits[cudaLimitDevRuntimeSyncDepth] = 2;
  limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
  limits[cudaLimitMaxL2FetchGranularity] = 64;
  limits[cudaLimitPersistingL2CacheSize] = 0;
}

Runtime::Runtime()
    : synchronous(is_set("TILE_MIGRATE_SYNC") || launches_are_synchronous()), generation(generations.load()) {
  const size_t count = configured_devices();
  for (size_t index = 0; index < count; ++index) {
    devices.push_back(std::make_unique<Device>(int(index)));
    make_default_pool(*this, *devices.back());
  }
}

Runtime &runtime() {
  Runtime *all = instance.load(std::memory_order_acquire);
  return all ? *all : start();
}

int current_device_index() noexcept { return current; }
void set_current_device(int index) noexcept { current = index; }

Device &current_device() {
  Runtime &all = runtime();
  if (size_t(current) >= all.devices.size()) throw NoDevice();
  return *all.devices[size_t(current)];
}

Device *device_at(int index) {
  Runtime &all = runtime();
  return index >= 0 && size_t(index) < all.devices.size() ? all.devices[size_t(index)].get() : nullptr;
}

cudaError_t device_fault() noexcept {
  Runtime &all = runtime();
  return size_t(current) < all.devices.size()
             ? cudaError_t(all.devices[size_t(current)]->fault.load(std::memory_order_acquire))
             : cudaSuccess;
}

void reset_device(Device &device) {
  synchronize(device);
  Runtime &all = runtime();
  all.streams.remove_if([&](Stream &stream) {
    if (&stream.device != &device) return false;
    stream.close();
    return true;
  });
  all.events.remove_if([&](Event &event) { return event.device == device.index; });
  all.pools.remove_if([&](MemoryPool &pool) { return pool.device == device.index && !pool.is_default; });
  forget_arrays(device.index);
  std::vector<uintptr_t> gone;
  all.allocations.for_each([&](const Allocation &allocation) {
    if (allocation.device == device.index && allocation.kind != MemoryKind::symbol) gone.push_back(allocation.base);
  });
  for (const uintptr_t base : gone)
    release(reinterpret_cast<void *>(base), [](MemoryKind kind) { return kind != MemoryKind::symbol; });
  device.arena.free_all();
  device.fault.store(cudaSuccess);
  device.peers.store(0);
  device.flags.store(cudaDeviceScheduleAuto);
  set_last_error(cudaSuccess);
}

}  // namespace tile_migrate
