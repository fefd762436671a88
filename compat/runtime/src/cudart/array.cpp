#include "array.h"

#include <iterator>

#include "copy.h"
#include "internal.h"

namespace tile_migrate {

namespace {

Arrays &arrays() { return runtime().arrays; }

cudaError_t create(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent, unsigned flags) {
  if (!array || !format || !extent.width) return cudaErrorInvalidValue;
  const int bits = format->x + format->y + format->z + format->w;
  if (bits <= 0 || bits % 8 != 0 || bits > 128) return cudaErrorInvalidChannelDescriptor;
  auto made = std::make_unique<Array>();
  made->format = *format;
  made->extent = extent;
  made->flags = flags;
  made->element = size_t(bits / 8);
  made->device = current_device_index();
  void *data = nullptr;
  const cudaError_t error =
      allocate(current_device(), MemoryKind::device, made->slice() * made->slices(), &data);
  if (error != cudaSuccess) return error;
  made->data = static_cast<char *>(data);
  std::lock_guard<std::mutex> guard(arrays().mutex);
  *array = reinterpret_cast<cudaArray_t>(made.get());
  arrays().live[made.get()] = std::move(made);
  return cudaSuccess;
}

// One linear side and one rectangle of an array.
cudaError_t between(bool to_array, cudaArray_const_t handle, size_t x, size_t y, void *linear, size_t pitch,
                    size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  const Array *array = array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (!array->holds(x, y, 0, width, height, 1)) return cudaErrorInvalidValue;
  CopyBox box;
  box.width = width;
  box.height = height;
  box.to = to_array ? array->at(x, y, 0) : static_cast<char *>(linear);
  box.to_pitch = to_array ? array->pitch() : pitch;
  box.from = to_array ? static_cast<const char *>(linear) : array->at(x, y, 0);
  box.from_pitch = to_array ? pitch : array->pitch();
  return copy(box, kind, stream, synchronous);
}

// `bytes` that may start and end within rows.
cudaError_t flat(bool to_array, cudaArray_const_t handle, size_t x, size_t y, void *linear, size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  const Array *array = array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  const size_t offset = y * array->pitch() + x;
  if (offset > array->slice() || bytes > array->slice() - offset) return cudaErrorInvalidValue;
  CopyBox box;
  box.width = bytes;
  box.to = to_array ? array->data + offset : static_cast<char *>(linear);
  box.from = to_array ? static_cast<const char *>(linear) : array->data + offset;
  return copy(box, kind, stream, synchronous);
}

cudaError_t array_to_array(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                           size_t from_y, size_t width, size_t height) {
  const Array *target = array_of(to), *source = array_of(from);
  if (!target || !source) return cudaErrorInvalidResourceHandle;
  if (!target->holds(to_x, to_y, 0, width, height, 1) || !source->holds(from_x, from_y, 0, width, height, 1))
    return cudaErrorInvalidValue;
  CopyBox box;
  box.width = width;
  box.height = height;
  box.to = target->at(to_x, to_y, 0);
  box.to_pitch = target->pitch();
  box.from = source->at(from_x, from_y, 0);
  box.from_pitch = source->pitch();
  return copy(box, cudaMemcpyDeviceToDevice, nullptr, true);
}

}  // namespace

const Array *array_of(cudaArray_const_t handle) {
  std::lock_guard<std::mutex> guard(arrays().mutex);
  const auto found = arrays().live.find(handle);
  return found == arrays().live.end() ? nullptr : found->second.get();
}

void forget_arrays(int device) {
  std::lock_guard<std::mutex> guard(arrays().mutex);
  for (auto entry = arrays().live.begin(); entry != arrays().live.end();)
    entry = entry->second->device == device ? arrays().live.erase(entry) : std::next(entry);
}

}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                                      size_t height, unsigned flags) {
  return entry(Api::cudaMallocArray, [&] { return create(array, format, cudaExtent{width, height, 0}, flags); });
}

TM_EXPORT cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format,
                                        cudaExtent extent, unsigned flags) {
  return entry(Api::cudaMalloc3DArray, [&] { return create(array, format, extent, flags); });
}

TM_EXPORT cudaError_t cudaFreeArray(cudaArray_t array) {
  return entry(Api::cudaFreeArray, [&] {
    if (!array) return cudaSuccess;
    std::unique_ptr<Array> gone;
    {
      std::lock_guard<std::mutex> guard(arrays().mutex);
      const auto found = arrays().live.find(array);
      if (found == arrays().live.end()) return cudaErrorInvalidResourceHandle;
      gone = std::move(found->second);
      arrays().live.erase(found);
    }
    if (Device *device = device_at(gone->device)) synchronize(*device);
    return release(gone->data, [](MemoryKind) { return true; });
  });
}

TM_EXPORT cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *flags,
                                       cudaArray_t handle) {
  return entry(Api::cudaArrayGetInfo, [&] {
    const Array *array = array_of(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t handle) {
  return entry(Api::cudaGetChannelDesc, [&] {
    const Array *array = array_of(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (!format) return cudaErrorInvalidValue;
    *format = array->format;
    return cudaSuccess;
  });
}

TM_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  leave(Api::cudaCreateChannelDesc, cudaSuccess);
  return cudaChannelFormatDesc{x, y, z, w, kind};
}

TM_EXPORT cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                          size_t width, size_t height, cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpy2DToArray, [&] {
    return between(true, to, x, y, const_cast<void *>(from), pitch, width, height, kind, nullptr, true);
  });
}

TM_EXPORT cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                               size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                               cudaStream_t stream) {
  return entry(Api::cudaMemcpy2DToArrayAsync, [&] {
    return between(true, to, x, y, const_cast<void *>(from), pitch, width, height, kind, stream, false);
  });
}

TM_EXPORT cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                            size_t width, size_t height, cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpy2DFromArray, [&] {
    return between(false, from, x, y, to, pitch, width, height, kind, nullptr, true);
  });
}

TM_EXPORT cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                                 size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
  return entry(Api::cudaMemcpy2DFromArrayAsync, [&] {
    return between(false, from, x, y, to, pitch, width, height, kind, stream, false);
  });
}

TM_EXPORT cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                        cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpyToArray,
               [&] { return flat(true, to, x, y, const_cast<void *>(from), bytes, kind, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                             size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return entry(Api::cudaMemcpyToArrayAsync,
               [&] { return flat(true, to, x, y, const_cast<void *>(from), bytes, kind, stream, false); });
}

TM_EXPORT cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                          cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpyFromArray,
               [&] { return flat(false, from, x, y, to, bytes, kind, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                               size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return entry(Api::cudaMemcpyFromArrayAsync,
               [&] { return flat(false, from, x, y, to, bytes, kind, stream, false); });
}

TM_EXPORT cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                               size_t from_x, size_t from_y, size_t width, size_t height,
                                               cudaMemcpyKind) {
  return entry(Api::cudaMemcpy2DArrayToArray,
               [&] { return array_to_array(to, to_x, to_y, from, from_x, from_y, width, height); });
}
