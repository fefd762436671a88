// Device memory of other processes: a handle names the exporting process's memory file and the place
// in it. Events do not leave their process.
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

namespace tile_migrate {

namespace {

constexpr uint64_t mark = 0x4350495f454c4954;  // "TILE_IPC"

// What is in the 64 bytes of a cudaIpcMemHandle_t.
struct MemoryHandle {
  uint64_t mark;
  uint64_t file;  // its inode: a process of the same number made later has another
  uint64_t offset, bytes;
  int32_t process, descriptor, device;
};
static_assert(sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t), "must fit");

struct Mapped {
  void *pointer;
  unsigned uses;
};

// Under the mutex. A handle that is opened again gives the same address.
struct Imports {
  std::mutex mutex;
  unsigned generation = 0;  // of the runtime: a forked child has none of these mappings
  std::map<std::pair<uint64_t, uint64_t>, Mapped> by_place;
};

Imports &imports() {
  static Imports &all = *new Imports;
  return all;
}

void forget_other_generations(Imports &all) {
  if (all.generation == runtime().generation) return;
  all.by_place.clear();
  all.generation = runtime().generation;
}

cudaError_t export_memory(cudaIpcMemHandle_t *handle, void *pointer) {
  Allocation found;
  if (!handle || !runtime().allocations.find(pointer, &found) || found.kind != MemoryKind::device ||
      found.base != reinterpret_cast<uintptr_t>(pointer))
    return cudaErrorInvalidValue;
  Arena &arena = device_at(found.device)->arena;
  struct stat status;
  if (fstat(arena.file(), &status) != 0) return cudaErrorOperatingSystem;
  MemoryHandle own = {mark, uint64_t(status.st_ino), found.base - arena.base(), found.bytes, int32_t(getpid()),
                      int32_t(arena.file()), int32_t(found.device)};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &own, sizeof own);
  return cudaSuccess;
}

// Maps the pages that hold the memory.
cudaError_t map(const MemoryHandle &own, Allocation *made) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/%d/fd/%d", own.process, own.descriptor);
  const int file = open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return cudaErrorMapBufferObjectFailed;
  struct stat status;
  void *at = MAP_FAILED;
  const size_t page = size_t(sysconf(_SC_PAGESIZE)), first = own.offset / page * page;
  const size_t bytes = own.offset - first + own.bytes;
  if (fstat(file, &status) == 0 && uint64_t(status.st_ino) == own.file && uint64_t(status.st_size) >= first + bytes)
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, off_t(first));
  close(file);
  if (at == MAP_FAILED) return cudaErrorMapBufferObjectFailed;
  madvise(at, bytes, MADV_DONTFORK);
  made->base = reinterpret_cast<uintptr_t>(at) + (own.offset - first);
  made->bytes = own.bytes;
  made->kind = MemoryKind::imported;
  made->device = current_device_index();
  made->mapping = at;
  made->mapping_bytes = bytes;
  return cudaSuccess;
}

cudaError_t import_memory(void **pointer, const cudaIpcMemHandle_t &handle, unsigned flags) {
  MemoryHandle own;
  std::memcpy(&own, &handle, sizeof own);
  if (!pointer || flags != cudaIpcMemLazyEnablePeerAccess || own.mark != mark) return cudaErrorInvalidValue;
  if (own.process == int32_t(getpid())) return cudaErrorDeviceUninitialized;  // as CUDA does
  current_device();
  Imports &all = imports();
  std::lock_guard<std::mutex> guard(all.mutex);
  forget_other_generations(all);
  const auto known = all.by_place.find({own.file, own.offset});
  if (known != all.by_place.end()) {
    ++known->second.uses;
    *pointer = known->second.pointer;
    return cudaSuccess;
  }
  Allocation made;
  const cudaError_t error = map(own, &made);
  if (error != cudaSuccess) return error;
  runtime().allocations.add(made);
  *pointer = reinterpret_cast<void *>(made.base);
  all.by_place[{own.file, own.offset}] = Mapped{*pointer, 1};
  return cudaSuccess;
}

cudaError_t close_memory(void *pointer) {
  Imports &all = imports();
  std::lock_guard<std::mutex> guard(all.mutex);
  forget_other_generations(all);
  for (auto entry = all.by_place.begin(); entry != all.by_place.end(); ++entry) {
    if (entry->second.pointer != pointer) continue;
    if (--entry->second.uses) return cudaSuccess;
    for (const auto &device : runtime().devices) synchronize(*device);
    all.by_place.erase(entry);
    return release(pointer, [](MemoryKind kind) { return kind == MemoryKind::imported; });
  }
  return cudaErrorInvalidValue;
}

}  // namespace

}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer) {
  return entry(Api::cudaIpcGetMemHandle, [&] { return export_memory(handle, pointer); });
}

TM_EXPORT cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return entry(Api::cudaIpcOpenMemHandle, [&] { return import_memory(pointer, handle, flags); });
}

TM_EXPORT cudaError_t cudaIpcCloseMemHandle(void *pointer) {
  return entry(Api::cudaIpcCloseMemHandle, [&] { return close_memory(pointer); });
}
