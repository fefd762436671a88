#include "allocation.h"

#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace tile_migrate {

bool AllocationTable::add(const Allocation &allocation) {
  std::unique_lock<std::shared_mutex> guard(mutex_);
  const auto after = table_.lower_bound(allocation.base);
  if (after != table_.end() && after->first < allocation.base + allocation.bytes) return false;
  if (after != table_.begin()) {
    const Allocation &before = std::prev(after)->second;
    if (before.base + before.bytes > allocation.base) return false;
  }
  table_.emplace_hint(after, allocation.base, allocation);
  return true;
}

bool AllocationTable::find(const void *pointer, Allocation *found) const {
  const uintptr_t at = reinterpret_cast<uintptr_t>(pointer);
  std::shared_lock<std::shared_mutex> guard(mutex_);
  auto entry = table_.upper_bound(at);
  if (entry == table_.begin()) return false;
  const Allocation &allocation = (--entry)->second;
  if (at - allocation.base >= allocation.bytes) return false;
  *found = allocation;
  return true;
}

bool AllocationTable::take(const void *pointer, bool (*accepts)(MemoryKind), Allocation *taken) {
  std::unique_lock<std::shared_mutex> guard(mutex_);
  const auto entry = table_.find(reinterpret_cast<uintptr_t>(pointer));
  if (entry == table_.end() || !accepts(entry->second.kind)) return false;
  *taken = entry->second;
  table_.erase(entry);
  return true;
}

namespace {

constexpr size_t alignment = 256;
// Smaller blocks keep their pages: giving them back and faulting them in again costs more than it saves.
constexpr size_t release_from = size_t(32) << 20;

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

size_t configured_memory() {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  if (const char *text = std::getenv("TILE_MIGRATE_MEMORY")) {
    char *end = nullptr;
    const double number = std::strtod(text, &end);
    double scale = 1;
    switch (*end) {
      case 'K': case 'k': scale = 1024.0; break;
      case 'M': case 'm': scale = 1048576.0; break;
      case 'G': case 'g': scale = 1073741824.0; break;
      default: break;
    }
    if (number * scale >= double(page)) return size_t(number * scale) / page * page;
  }
  const size_t half = size_t(sysconf(_SC_PHYS_PAGES)) / 2 * page;
  return half ? half : size_t(1) << 30;
}

bool Arena::ready() {
  if (base_) return true;
  const size_t bytes = configured_memory();
  const int file = memfd_create("tile-migrate-device", MFD_CLOEXEC);
  if (file < 0) return false;
  void *at = MAP_FAILED;
  if (ftruncate(file, off_t(bytes)) == 0)
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (at == MAP_FAILED) {
    close(file);
    return false;
  }
  // A child must not write its parent's device memory: it starts with a device of its own.
  madvise(at, bytes, MADV_DONTFORK);
  file_ = file;
  base_ = reinterpret_cast<uintptr_t>(at);
  total_ = bytes;
  free_[0] = bytes;
  return true;
}

void *Arena::allocate(size_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (!ready() || bytes > total_) return nullptr;
  const size_t size = rounded(bytes, alignment);
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->second < size) continue;
    const uintptr_t offset = block->first;
    const size_t rest = block->second - size;
    free_.erase(block);
    if (rest) free_[offset + size] = rest;
    taken_[offset] = size;
    used_ += size;
    return reinterpret_cast<void *>(base_ + offset);
  }
  return nullptr;
}

void Arena::release_pages(uintptr_t offset, size_t bytes) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const uintptr_t first = rounded(offset, page);
  const uintptr_t end = (offset + bytes) / page * page;
  if (end > first)
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(first), off_t(end - first));
}

void Arena::free(void *pointer) {
  std::lock_guard<std::mutex> guard(mutex_);
  uintptr_t offset = reinterpret_cast<uintptr_t>(pointer) - base_;
  const auto block = taken_.find(offset);
  if (block == taken_.end()) return;
  size_t size = block->second;
  taken_.erase(block);
  used_ -= size;
  if (size >= release_from) release_pages(offset, size);
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + size) {
    size += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_[offset] = size;
}

void Arena::free_all() {
  std::lock_guard<std::mutex> guard(mutex_);
  if (!base_) return;
  taken_.clear();
  free_.clear();
  free_[0] = total_;
  used_ = 0;
  release_pages(0, total_);
}

size_t Arena::total() {
  std::lock_guard<std::mutex> guard(mutex_);
  return ready() ? total_ : configured_memory();
}

size_t Arena::unused() {
  std::lock_guard<std::mutex> guard(mutex_);
  return ready() ? total_ - used_ : 0;
}

int Arena::file() {
  std::lock_guard<std::mutex> guard(mutex_);
  return file_;
}

bool Arena::contains(const void *pointer) const {
  return base_ && reinterpret_cast<uintptr_t>(pointer) - base_ < total_;
}

}  // namespace tile_migrate
