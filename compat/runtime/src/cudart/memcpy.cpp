// The copying and filling functions, on linear memory and boxes.
#include "copy.h"
#include "internal.h"

using namespace tile_migrate;

namespace {

CopyBox row(void *to, const void *from, size_t bytes) {
  CopyBox box;
  box.to = static_cast<char *>(to);
  box.from = static_cast<const char *>(from);
  box.width = bytes;
  return box;
}

CopyBox rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height) {
  CopyBox box = row(to, from, width);
  box.to_pitch = to_pitch;
  box.from_pitch = from_pitch;
  box.height = height;
  return box;
}

FillBox bytes_of(void *to, size_t pitch, int value, size_t width, size_t height) {
  FillBox box;
  box.to = static_cast<char *>(to);
  box.pitch = pitch;
  box.value = unsigned(value) & 0xff;
  box.width = width;
  box.height = height;
  return box;
}

FillBox slices_of(const cudaPitchedPtr &to, int value, const cudaExtent &extent) {
  FillBox box = bytes_of(to.ptr, to.pitch, value, extent.width, extent.height);
  box.slice = to.pitch * to.ysize;
  box.depth = extent.depth;
  return box;
}

cudaError_t copy_3d(const cudaMemcpy3DParms *parameters, cudaStream_t stream, bool synchronous) {
  if (!parameters) return cudaErrorInvalidValue;
  CopyBox box;
  const cudaError_t error = copy_box_of(*parameters, &box);
  return error != cudaSuccess ? error : copy(box, parameters->kind, stream, synchronous);
}

// A copy between devices that is not on a stream comes after all that was asked of both before.
cudaError_t settle_both(int one, int other, bool synchronous) {
  Device *const devices[2] = {device_at(one), device_at(other)};
  if (!devices[0] || !devices[1]) return cudaErrorInvalidDevice;
  if (synchronous)
    for (Device *device : devices) synchronize(*device);
  return cudaSuccess;
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream, bool synchronous) {
  if (!parameters) return cudaErrorInvalidValue;
  const cudaError_t error = settle_both(parameters->srcDevice, parameters->dstDevice, synchronous);
  if (error != cudaSuccess) return error;
  cudaMemcpy3DParms plain = {parameters->srcArray, parameters->srcPos, parameters->srcPtr, parameters->dstArray,
                             parameters->dstPos,   parameters->dstPtr, parameters->extent, cudaMemcpyDefault};
  return copy_3d(&plain, stream, synchronous);
}

cudaError_t copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes,
                      cudaStream_t stream, bool synchronous) {
  const cudaError_t error = settle_both(from_device, to_device, synchronous);
  if (error != cudaSuccess) return error;
  return copy(row(to, from, bytes), cudaMemcpyDeviceToDevice, stream, synchronous);
}

}  // namespace

TM_EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpy, [&] { return copy(row(to, from, bytes), kind, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return entry(Api::cudaMemcpyAsync, [&] { return copy(row(to, from, bytes), kind, stream, false); });
}

TM_EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                   size_t height, cudaMemcpyKind kind) {
  return entry(Api::cudaMemcpy2D, [&] {
    return copy(rows(to, to_pitch, from, from_pitch, width, height), kind, nullptr, true);
  });
}

TM_EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                        size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return entry(Api::cudaMemcpy2DAsync, [&] {
    return copy(rows(to, to_pitch, from, from_pitch, width, height), kind, stream, false);
  });
}

TM_EXPORT cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters) {
  return entry(Api::cudaMemcpy3D, [&] { return copy_3d(parameters, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *parameters, cudaStream_t stream) {
  return entry(Api::cudaMemcpy3DAsync, [&] { return copy_3d(parameters, stream, false); });
}

TM_EXPORT cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *parameters) {
  return entry(Api::cudaMemcpy3DPeer, [&] { return copy_3d_peer(parameters, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream) {
  return entry(Api::cudaMemcpy3DPeerAsync, [&] { return copy_3d_peer(parameters, stream, false); });
}

TM_EXPORT cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  return entry(Api::cudaMemcpyPeer,
               [&] { return copy_peer(to, to_device, from, from_device, bytes, nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                          size_t bytes, cudaStream_t stream) {
  return entry(Api::cudaMemcpyPeerAsync,
               [&] { return copy_peer(to, to_device, from, from_device, bytes, stream, false); });
}

TM_EXPORT cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  return entry(Api::cudaMemset, [&] { return fill(bytes_of(to, 0, value, bytes, 1), nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
  return entry(Api::cudaMemsetAsync, [&] { return fill(bytes_of(to, 0, value, bytes, 1), stream, false); });
}

TM_EXPORT cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return entry(Api::cudaMemset2D, [&] { return fill(bytes_of(to, pitch, value, width, height), nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                        cudaStream_t stream) {
  return entry(Api::cudaMemset2DAsync,
               [&] { return fill(bytes_of(to, pitch, value, width, height), stream, false); });
}

TM_EXPORT cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return entry(Api::cudaMemset3D, [&] { return fill(slices_of(to, value, extent), nullptr, true); });
}

TM_EXPORT cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return entry(Api::cudaMemset3DAsync, [&] { return fill(slices_of(to, value, extent), stream, false); });
}
