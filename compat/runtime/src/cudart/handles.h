// Opaque handles (streams, events, graphs, …). A handle is a number that names a slot and its
// generation: a destroyed or foreign handle is recognised, never followed.
#ifndef TM_CUDART_HANDLES_H
#define TM_CUDART_HANDLES_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tile_migrate {

template <class Object, class Handle, unsigned tag>
class Handles {
 public:
  // Null when every slot is taken.
  Handle add(std::shared_ptr<Object> object) {
    std::lock_guard<std::mutex> guard(mutex_);
    uint32_t index;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else if (used_ < chunk_count * chunk_size) {
      index = used_++;
      if (index % chunk_size == 0)
        chunks_[index / chunk_size].store(new Slot[chunk_size], std::memory_order_release);
    } else {
      return nullptr;
    }
    Slot &slot = chunks_[index / chunk_size].load(std::memory_order_relaxed)[index % chunk_size];
    Locked locked(slot);
    slot.object = std::move(object);
    return encode(index, slot.generation);
  }

  std::shared_ptr<Object> find(Handle handle) const {
    Slot *slot = decode(handle);
    if (!slot) return nullptr;
    Locked locked(*slot);
    return slot->generation == generation_of(handle) ? slot->object : nullptr;
  }

  std::shared_ptr<Object> remove(Handle handle) {
    Slot *slot = decode(handle);
    if (!slot) return nullptr;
    std::shared_ptr<Object> object;
    {
      Locked locked(*slot);
      if (slot->generation != generation_of(handle) || !slot->object) return nullptr;
      object.swap(slot->object);
      slot->generation = (slot->generation + 1) & generation_mask;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    free_.push_back(index_of(handle));
    return object;
  }

  // Removes every object that `matches`.
  template <class Predicate>
  void remove_if(Predicate matches) {
    std::vector<std::shared_ptr<Object>> dropped;  // destroyed after the locks are released
    std::lock_guard<std::mutex> guard(mutex_);
    for (uint32_t index = 0; index < used_; ++index) {
      Slot &slot = chunks_[index / chunk_size].load(std::memory_order_relaxed)[index % chunk_size];
      Locked locked(slot);
      if (!slot.object || !matches(*slot.object)) continue;
      dropped.push_back(std::move(slot.object));
      slot.object = nullptr;
      slot.generation = (slot.generation + 1) & generation_mask;
      free_.push_back(index);
    }
  }

 private:
  static constexpr uint32_t chunk_size = 256, chunk_count = 4096, generation_mask = 0xffffff;
  struct Slot {
    mutable std::atomic_flag busy = ATOMIC_FLAG_INIT;
    uint32_t generation = 0;
    std::shared_ptr<Object> object;
  };
  struct Locked {
    explicit Locked(const Slot &slot) : slot(slot) {
      while (slot.busy.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Locked() { slot.busy.clear(std::memory_order_release); }
    const Slot &slot;
  };

  // Not a canonical address: following one faults at once.
  static Handle encode(uint32_t index, uint32_t generation) {
    const uint64_t value = (uint64_t(0xc0 | tag) << 56) | (uint64_t(generation) << 32) | (index << 4) | 8;
    return reinterpret_cast<Handle>(value);
  }
  static uint32_t index_of(Handle handle) {
    return uint32_t(reinterpret_cast<uint64_t>(handle)) >> 4;
  }
  static uint32_t generation_of(Handle handle) {
    return uint32_t(reinterpret_cast<uint64_t>(handle) >> 32) & generation_mask;
  }
  Slot *decode(Handle handle) const {
    const uint64_t value = reinterpret_cast<uint64_t>(handle);
    const uint32_t index = index_of(handle);
    if (value >> 56 != (0xc0 | tag) || (value & 15) != 8 || index >= chunk_count * chunk_size)
      return nullptr;
    Slot *chunk = chunks_[index / chunk_size].load(std::memory_order_acquire);
    return chunk ? chunk + index % chunk_size : nullptr;
  }

  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t used_ = 0;
  std::atomic<Slot *> chunks_[chunk_count] = {};
};

}  // namespace tile_migrate

#endif
