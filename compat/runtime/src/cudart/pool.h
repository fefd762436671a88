// Memory pools of stream-ordered allocation.
#ifndef TM_CUDART_POOL_H
#define TM_CUDART_POOL_H

#include "internal.h"

namespace tile_migrate {

struct MemoryPool {
  MemoryPool(int device, bool is_default) : device(device), is_default(is_default) {}
  const int device;
  const bool is_default;
  size_t maximum = 0;  // bytes; 0: none
  std::atomic<uint64_t> release_threshold{0}, used{0}, used_high{0};
  std::atomic<int> reuse[3] = {{1}, {1}, {1}};
};

void make_default_pool(Runtime &runtime, Device &device);
cudaError_t allocate_from(MemoryPool &pool, size_t bytes, cudaStream_t stream, void **pointer);

}  // namespace tile_migrate

#endif
