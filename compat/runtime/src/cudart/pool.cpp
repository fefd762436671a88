#include "pool.h"

#include "capture.h"

namespace tile_migrate {

namespace {

bool is_device(MemoryKind kind) { return kind == MemoryKind::device; }

void give_back(void *pointer) {
  Allocation found;
  if (!runtime().allocations.find(pointer, &found)) return;
  if (found.pool) {
    auto *pool = static_cast<MemoryPool *>(const_cast<void *>(found.pool));
    pool->used.fetch_sub(found.bytes);
  }
  release(pointer, is_device);
}

// Frees when the stream gets there.
class FreeOperation final : public Operation {
 public:
  explicit FreeOperation(void *pointer) : pointer_(pointer) {}
  cudaError_t run(cudaStream_t, Device &) const override {
    give_back(pointer_);
    return cudaSuccess;
  }
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemFree; }
  bool small() const override { return true; }

 private:
  void *const pointer_;
};

std::shared_ptr<MemoryPool> pool_of(cudaMemPool_t handle) { return runtime().pools.find(handle); }

cudaError_t free_async(void *pointer, cudaStream_t stream) {
  if (!pointer) return cudaErrorInvalidValue;
  Allocation found;
  if (!runtime().allocations.find(pointer, &found) || found.base != reinterpret_cast<uintptr_t>(pointer) ||
      !is_device(found.kind))
    return cudaErrorInvalidValue;
  const std::shared_ptr<Stream> on = stream_of(stream);
  if (!on) return cudaErrorInvalidResourceHandle;
  if (on->capturing()) return cudaErrorStreamCaptureUnsupported;
  return submit(stream, std::make_shared<FreeOperation>(pointer));
}

cudaError_t malloc_async(void **pointer, size_t bytes, cudaMemPool_t handle, cudaStream_t stream) {
  const std::shared_ptr<Stream> on = stream_of(stream);
  if (!on) return cudaErrorInvalidResourceHandle;
  if (on->capturing()) return cudaErrorStreamCaptureUnsupported;
  std::shared_ptr<MemoryPool> pool;
  if (handle) {
    pool = pool_of(handle);
  } else {
    std::lock_guard<std::mutex> guard(runtime().mutex);
    pool = on->device.pool;
  }
  if (!pool) return cudaErrorInvalidValue;
  return allocate_from(*pool, bytes, stream, pointer);
}

}  // namespace

void make_default_pool(Runtime &runtime, Device &device) {
  device.default_pool = device.pool = std::make_shared<MemoryPool>(device.index, true);
  device.default_pool_handle = device.pool_handle = runtime.pools.add(device.default_pool);
}

cudaError_t allocate_from(MemoryPool &pool, size_t bytes, cudaStream_t, void **pointer) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (!bytes) return cudaSuccess;
  if (pool.maximum && pool.used.load() + bytes > pool.maximum) return cudaErrorMemoryAllocation;
  Device *device = device_at(pool.device);
  void *at = device->arena.allocate(bytes);
  if (!at) {
    // Frees may be waiting in streams.
    synchronize(*device);
    at = device->arena.allocate(bytes);
  }
  if (!at) return cudaErrorMemoryAllocation;
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(at);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::device;
  allocation.device = pool.device;
  allocation.pool = &pool;
  runtime().allocations.add(allocation);
  const uint64_t used = pool.used.fetch_add(bytes) + bytes;
  uint64_t high = pool.used_high.load();
  while (high < used && !pool.used_high.compare_exchange_weak(high, used)) {
  }
  *pointer = at;
  return cudaSuccess;
}

}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  return entry(Api::cudaMallocAsync, [&] { return malloc_async(pointer, bytes, nullptr, stream); });
}

TM_EXPORT cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return entry(Api::cudaMallocFromPoolAsync, [&] {
    return pool ? malloc_async(pointer, bytes, pool, stream) : cudaErrorInvalidValue;
  });
}

TM_EXPORT cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  return entry(Api::cudaFreeAsync, [&] { return free_async(pointer, stream); });
}

TM_EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  return entry(Api::cudaDeviceGetDefaultMemPool, [&] {
    Device *found = device_at(device);
    if (!found) return cudaErrorInvalidDevice;
    if (!pool) return cudaErrorInvalidValue;
    *pool = found->default_pool_handle;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  return entry(Api::cudaDeviceGetMemPool, [&] {
    Device *found = device_at(device);
    if (!found) return cudaErrorInvalidDevice;
    if (!pool) return cudaErrorInvalidValue;
    std::lock_guard<std::mutex> guard(runtime().mutex);
    *pool = found->pool_handle;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return entry(Api::cudaDeviceSetMemPool, [&] {
    Device *found = device_at(device);
    if (!found) return cudaErrorInvalidDevice;
    std::shared_ptr<MemoryPool> chosen = pool_of(pool);
    if (!chosen || chosen->device != device) return cudaErrorInvalidValue;
    std::lock_guard<std::mutex> guard(runtime().mutex);
    found->pool = std::move(chosen);
    found->pool_handle = pool;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
  return entry(Api::cudaMemPoolCreate, [&] {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice ||
        properties->handleTypes != cudaMemHandleTypeNone)
      return cudaErrorNotSupported;
    if (!device_at(properties->location.id)) return cudaErrorInvalidDevice;
    auto made = std::make_shared<MemoryPool>(properties->location.id, false);
    made->maximum = properties->maxSize;
    *pool = runtime().pools.add(made);
    if (!*pool) return cudaErrorMemoryAllocation;
    // Live allocations name their pool: it outlives its handle.
    runtime().keep(made);
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return entry(Api::cudaMemPoolDestroy, [&] {
    const std::shared_ptr<MemoryPool> found = pool_of(pool);
    if (!found || found->is_default) return cudaErrorInvalidValue;
    if (Device *device = device_at(found->device)) {
      std::lock_guard<std::mutex> guard(runtime().mutex);
      if (device->pool == found) {
        device->pool = device->default_pool;
        device->pool_handle = device->default_pool_handle;
      }
    }
    runtime().pools.remove(pool);
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return entry(Api::cudaMemPoolTrimTo, [&] { return pool_of(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

namespace {

std::atomic<uint64_t> *wide_attribute(MemoryPool &pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: return &pool.release_threshold;
    case cudaMemPoolAttrUsedMemCurrent:
    case cudaMemPoolAttrReservedMemCurrent: return &pool.used;
    case cudaMemPoolAttrUsedMemHigh:
    case cudaMemPoolAttrReservedMemHigh: return &pool.used_high;
    default: return nullptr;
  }
}

std::atomic<int> *reuse_attribute(MemoryPool &pool, cudaMemPoolAttr attribute) {
  const int index = int(attribute) - int(cudaMemPoolReuseFollowEventDependencies);
  return index >= 0 && index < 3 ? &pool.reuse[index] : nullptr;
}

}  // namespace

TM_EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  return entry(Api::cudaMemPoolGetAttribute, [&] {
    const std::shared_ptr<MemoryPool> found = pool_of(pool);
    if (!found || !value) return cudaErrorInvalidValue;
    if (const auto *wide = wide_attribute(*found, attribute))
      *static_cast<uint64_t *>(value) = wide->load();
    else if (const auto *reuse = reuse_attribute(*found, attribute))
      *static_cast<int *>(value) = reuse->load();
    else
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  return entry(Api::cudaMemPoolSetAttribute, [&] {
    const std::shared_ptr<MemoryPool> found = pool_of(pool);
    if (!found || !value) return cudaErrorInvalidValue;
    if (auto *reuse = reuse_attribute(*found, attribute)) {
      reuse->store(*static_cast<int *>(value) != 0);
      return cudaSuccess;
    }
    const uint64_t wide = *static_cast<uint64_t *>(value);
    switch (attribute) {
      case cudaMemPoolAttrReleaseThreshold: found->release_threshold.store(wide); return cudaSuccess;
      // A high-water mark can only be reset.
      case cudaMemPoolAttrUsedMemHigh:
      case cudaMemPoolAttrReservedMemHigh:
        if (wide) return cudaErrorInvalidValue;
        found->used_high.store(found->used.load());
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

TM_EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count) {
  return entry(Api::cudaMemPoolSetAccess, [&] {
    if (!pool_of(pool) || (count && !access)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (access[i].location.type != cudaMemLocationTypeDevice || !device_at(access[i].location.id))
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location) {
  return entry(Api::cudaMemPoolGetAccess, [&] {
    if (!flags || !location || !pool_of(pool)) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !device_at(location->id)) return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}
