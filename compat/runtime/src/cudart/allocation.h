// Memory that programs ask for: an arena a device, and one table of every live allocation.
#ifndef TM_CUDART_ALLOCATION_H
#define TM_CUDART_ALLOCATION_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace tile_migrate {

enum class MemoryKind : uint8_t { device, managed, pinned, registered, symbol, imported };

struct Allocation {
  uintptr_t base = 0;
  size_t bytes = 0;  // as asked for
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  unsigned flags = 0;      // cudaHostAlloc*, cudaHostRegister* or cudaMemAttach*
  const void *pool = nullptr;  // of stream-ordered allocations
  void *mapping = nullptr;     // pinned and imported: what to unmap
  size_t mapping_bytes = 0;
};

class AllocationTable {
 public:
  // False, and nothing added, if the range overlaps one that is there.
  bool add(const Allocation &allocation);
  // The allocation that holds the byte at `pointer`, or ends there if `bytes` is 0.
  bool find(const void *pointer, Allocation *found) const;
  // Removes and returns the allocation that starts at `pointer`, if accepts(kind).
  bool take(const void *pointer, bool (*accepts)(MemoryKind), Allocation *taken);
  template <class Visit>
  void for_each(Visit visit) const {
    std::shared_lock<std::shared_mutex> guard(mutex_);
    for (const auto &entry : table_) visit(entry.second);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Allocation> table_;
};

// A device's memory: one sparse shared file, so that other processes can map it. Blocks are cut by
// first fit at 256 bytes; the pages of large freed blocks go back to the system.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  // Null when the device has no room (or the system no address space).
  void *allocate(size_t bytes);
  void free(void *pointer);
  void free_all();
  size_t total();
  size_t unused();
  int file();
  bool contains(const void *pointer) const;
  uintptr_t base() const { return base_; }

 private:
  bool ready();
  void release_pages(uintptr_t offset, size_t bytes);

  std::mutex mutex_;
  int file_ = -1;
  uintptr_t base_ = 0;
  size_t total_ = 0, used_ = 0;
  std::map<uintptr_t, size_t> free_;   // offset → bytes
  std::map<uintptr_t, size_t> taken_;  // offset → bytes
};

// Bytes of one device's memory: $TILE_MIGRATE_MEMORY (K, M, G suffixes), else half of the machine's.
size_t configured_memory();

}  // namespace tile_migrate

#endif
