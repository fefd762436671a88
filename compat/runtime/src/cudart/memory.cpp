// Allocation and what is known about pointers.
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

namespace tile_migrate {

bool find_allocation(const void *pointer, void **base, size_t *bytes, int *device) {
  Allocation found;
  if (!runtime().allocations.find(pointer, &found)) return false;
  if (base) *base = reinterpret_cast<void *>(found.base);
  if (bytes) *bytes = found.bytes;
  if (device) *device = found.device;
  return true;
}

cudaError_t allocate(Device &device, MemoryKind kind, size_t bytes, void **pointer) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (!bytes) return cudaSuccess;
  void *const at = device.arena.allocate(bytes);
  if (!at) return cudaErrorMemoryAllocation;
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(at);
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.device = device.index;
  runtime().allocations.add(allocation);
  *pointer = at;
  return cudaSuccess;
}

cudaError_t release(void *pointer, bool (*accepts)(MemoryKind)) {
  Allocation gone;
  if (!runtime().allocations.take(pointer, accepts, &gone)) return cudaErrorInvalidValue;
  if (gone.kind == MemoryKind::device || gone.kind == MemoryKind::managed) {
    if (Device *device = device_at(gone.device)) device->arena.free(pointer);
  } else if (gone.mapping) {
    munmap(gone.mapping, gone.mapping_bytes);
  }
  return cudaSuccess;
}

namespace {

size_t page_size() { return size_t(sysconf(_SC_PAGESIZE)); }

cudaError_t allocate_host(void **pointer, size_t bytes, unsigned flags) {
  if (!pointer || (flags & ~unsigned(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)))
    return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (!bytes) return cudaSuccess;
  const size_t mapped = (bytes + page_size() - 1) / page_size() * page_size();
  if (mapped < bytes) return cudaErrorMemoryAllocation;
  void *at = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return cudaErrorMemoryAllocation;
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(at);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::pinned;
  allocation.device = current_device_index();
  allocation.flags = flags | cudaHostAllocMapped;
  allocation.mapping = at;
  allocation.mapping_bytes = mapped;
  runtime().allocations.add(allocation);
  *pointer = at;
  return cudaSuccess;
}

// Freeing waits for the work that may still use the memory.
cudaError_t free_after_work(void *pointer, bool (*accepts)(MemoryKind), cudaError_t unknown) {
  if (!pointer) return cudaSuccess;
  Runtime &all = runtime();
  Allocation found;
  if (!all.allocations.find(pointer, &found) || found.base != reinterpret_cast<uintptr_t>(pointer) ||
      !accepts(found.kind))
    return unknown;
  for (const auto &device : all.devices)
    if (device->index == found.device || found.kind != MemoryKind::device) synchronize(*device);
  return release(pointer, accepts) == cudaSuccess ? cudaSuccess : unknown;
}

bool is_device(MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::managed; }
bool is_pinned(MemoryKind kind) { return kind == MemoryKind::pinned; }
bool is_registered(MemoryKind kind) { return kind == MemoryKind::registered; }

constexpr size_t pitch_alignment = 512;

cudaError_t allocate_pitched(void **pointer, size_t *pitch, size_t width, size_t height, size_t depth) {
  if (!pointer || !pitch) return cudaErrorInvalidValue;
  if (width > SIZE_MAX - pitch_alignment) return cudaErrorMemoryAllocation;
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  size_t bytes;
  if (__builtin_mul_overflow(*pitch, height, &bytes) || __builtin_mul_overflow(bytes, depth, &bytes))
    return cudaErrorMemoryAllocation;
  return allocate(current_device(), MemoryKind::device, bytes, pointer);
}

}  // namespace
}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  return entry(Api::cudaMalloc,
               [&] { return allocate(current_device(), MemoryKind::device, bytes, pointer); });
}

TM_EXPORT cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return entry(Api::cudaMallocManaged, [&] {
    if (!bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return cudaErrorInvalidValue;
    return allocate(current_device(), MemoryKind::managed, bytes, pointer);
  });
}

TM_EXPORT cudaError_t cudaFree(void *pointer) {
  return entry(Api::cudaFree, [&] { return free_after_work(pointer, is_device, cudaErrorInvalidValue); });
}

TM_EXPORT cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return entry(Api::cudaMallocHost, [&] { return allocate_host(pointer, bytes, cudaHostAllocDefault); });
}

TM_EXPORT cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return entry(Api::cudaHostAlloc, [&] { return allocate_host(pointer, bytes, flags); });
}

TM_EXPORT cudaError_t cudaFreeHost(void *pointer) {
  return entry(Api::cudaFreeHost, [&] { return free_after_work(pointer, is_pinned, cudaErrorInvalidValue); });
}

TM_EXPORT cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
  return entry(Api::cudaHostRegister, [&] {
    if (!pointer || !bytes || (flags & ~15u)) return cudaErrorInvalidValue;
    if (flags & cudaHostRegisterIoMemory) return cudaErrorNotSupported;
    Allocation allocation;
    allocation.base = reinterpret_cast<uintptr_t>(pointer);
    allocation.bytes = bytes;
    allocation.kind = MemoryKind::registered;
    allocation.device = current_device_index();
    allocation.flags = flags | cudaHostRegisterMapped;
    return runtime().allocations.add(allocation) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

TM_EXPORT cudaError_t cudaHostUnregister(void *pointer) {
  return entry(Api::cudaHostUnregister, [&] {
    if (!pointer) return cudaErrorInvalidValue;
    return free_after_work(pointer, is_registered, cudaErrorHostMemoryNotRegistered);
  });
}

TM_EXPORT cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  return entry(Api::cudaHostGetDevicePointer, [&] {
    Allocation found;
    if (!device || flags || !runtime().allocations.find(host, &found) ||
        (!is_pinned(found.kind) && !is_registered(found.kind)))
      return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  return entry(Api::cudaHostGetFlags, [&] {
    Allocation found;
    if (!flags || !runtime().allocations.find(host, &found) || !is_pinned(found.kind))
      return cudaErrorInvalidValue;
    *flags = found.flags;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  return entry(Api::cudaMallocPitch, [&] { return allocate_pitched(pointer, pitch, width, height, 1); });
}

TM_EXPORT cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent) {
  return entry(Api::cudaMalloc3D, [&] {
    if (!pointer) return cudaErrorInvalidValue;
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return allocate_pitched(&pointer->ptr, &pointer->pitch, extent.width, extent.height, extent.depth);
  });
}

TM_EXPORT cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  return entry(Api::cudaMemGetInfo, [&] {
    if (!free || !total) return cudaErrorInvalidValue;
    Arena &arena = current_device().arena;
    *total = arena.total();
    *free = arena.unused();
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  return entry(Api::cudaPointerGetAttributes, [&] {
    if (!attributes) return cudaErrorInvalidValue;
    std::memset(attributes, 0, sizeof *attributes);
    Allocation found;
    if (!runtime().allocations.find(pointer, &found)) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = const_cast<void *>(pointer);
      return cudaSuccess;
    }
    attributes->device = found.device;
    attributes->devicePointer = const_cast<void *>(pointer);
    switch (found.kind) {
      case MemoryKind::managed: attributes->type = cudaMemoryTypeManaged; break;
      case MemoryKind::pinned:
      case MemoryKind::registered: attributes->type = cudaMemoryTypeHost; break;
      default: attributes->type = cudaMemoryTypeDevice; return cudaSuccess;
    }
    attributes->hostPointer = const_cast<void *>(pointer);
    return cudaSuccess;
  });
}

namespace {

// Advice and prefetches move nothing here: all memory is as near.
cudaError_t check_managed(const void *pointer, size_t bytes) {
  Allocation found;
  if (!bytes || !runtime().allocations.find(pointer, &found) ||
      (found.kind != MemoryKind::managed && found.kind != MemoryKind::device) ||
      bytes > found.bytes - (reinterpret_cast<uintptr_t>(pointer) - found.base))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t check_location(cudaMemLocation location) {
  if (location.type == cudaMemLocationTypeDevice && !device_at(location.id)) return cudaErrorInvalidDevice;
  return location.type == cudaMemLocationTypeInvalid ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

TM_EXPORT cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
  return entry(Api::cudaMemAdvise, [&] {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
    const bool placed = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly &&
                        advice != cudaMemAdviseUnsetPreferredLocation;
    if (placed && check_location(location) != cudaSuccess) return check_location(location);
    return check_managed(pointer, bytes);
  });
}

TM_EXPORT cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, cudaMemLocation location,
                                           unsigned flags, cudaStream_t stream) {
  return entry(Api::cudaMemPrefetchAsync, [&] {
    if (flags) return cudaErrorInvalidValue;
    if (check_location(location) != cudaSuccess) return check_location(location);
    if (!stream_of(stream)) return cudaErrorInvalidResourceHandle;
    return check_managed(pointer, bytes);
  });
}

TM_EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t, unsigned flags) {
  return entry(Api::cudaStreamAttachMemAsync, [&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
      return cudaErrorInvalidValue;
    if (!stream_of(stream)) return cudaErrorInvalidResourceHandle;
    return check_managed(pointer, 1);
  });
}
