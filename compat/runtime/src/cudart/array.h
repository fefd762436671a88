// CUDA arrays, kept as linear memory: row after row, slice after slice.
#ifndef TM_CUDART_ARRAY_H
#define TM_CUDART_ARRAY_H

#include <map>
#include <memory>
#include <mutex>

#include "cuda_types.h"

namespace tile_migrate {

struct Array {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // elements; height and depth 0 where the array has fewer dimensions
  unsigned flags;
  size_t element;  // bytes
  char *data;
  int device;

  size_t rows() const { return extent.height ? extent.height : 1; }
  size_t slices() const { return extent.depth ? extent.depth : 1; }
  size_t pitch() const { return extent.width * element; }
  size_t slice() const { return pitch() * rows(); }
  char *at(size_t x_bytes, size_t y, size_t z) const { return data + z * slice() + y * pitch() + x_bytes; }
  bool holds(size_t x_bytes, size_t y, size_t z, size_t width, size_t height, size_t depth) const {
    return x_bytes <= pitch() && width <= pitch() - x_bytes && y <= rows() && height <= rows() - y &&
           z <= slices() && depth <= slices() - z;
  }
};

struct Arrays {
  std::mutex mutex;
  std::map<const void *, std::unique_ptr<Array>> live;
};

void forget_arrays(int device);
// Null if it is none, or freed.
const Array *array_of(cudaArray_const_t handle);

}  // namespace tile_migrate

#endif
