#include "copy.h"

#include <algorithm>
#include <cstring>

#include "array.h"
#include "internal.h"

namespace tile_migrate {

namespace {

// Larger pageable sources are not staged: the call returns when the copy is done.
constexpr size_t staging_limit = size_t(1) << 20;

enum class Place { pageable, host, device };  // host: pinned, registered or managed: on either side

Place place_of(const void *pointer, Allocation *found) {
  if (!runtime().allocations.find(pointer, found)) return Place::pageable;
  switch (found->kind) {
    case MemoryKind::pinned:
    case MemoryKind::registered:
    case MemoryKind::managed: return Place::host;
    case MemoryKind::device:
    case MemoryKind::symbol:
    case MemoryKind::imported: break;
  }
  return Place::device;
}

size_t span(size_t width, size_t height, size_t depth, size_t pitch, size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

bool fits(const Allocation &allocation, const void *pointer, size_t bytes) {
  const size_t offset = reinterpret_cast<uintptr_t>(pointer) - allocation.base;
  return bytes <= allocation.bytes - offset;
}

// The same copy from a private copy of its source.
std::shared_ptr<const Operation> staged_copy(const CopyBox &box) {
  std::shared_ptr<char> staged(new char[box.width * box.height * box.depth], std::default_delete<char[]>());
  CopyBox stage = box, rest = box;
  stage.to = staged.get();
  rest.from = staged.get();
  stage.to_pitch = rest.from_pitch = box.width;
  stage.to_slice = rest.from_slice = box.width * box.height;
  CopyOperation(stage).perform();
  auto operation = std::make_shared<CopyOperation>(rest);
  operation->staged = std::move(staged);
  return operation;
}

template <class Element>
void fill_row(char *row, size_t count, unsigned value) {
  std::fill_n(reinterpret_cast<Element *>(row), count, Element(value));
}

}  // namespace

cudaError_t CopyOperation::run(cudaStream_t, Device &) const {
  perform();
  return cudaSuccess;
}

void CopyOperation::perform() const {
  for (size_t z = 0; z < box.depth; ++z) {
    char *to = box.to + z * box.to_slice;
    const char *from = box.from + z * box.from_slice;
    if (box.height == 1 || (box.to_pitch == box.width && box.from_pitch == box.width)) {
      std::memmove(to, from, box.width * box.height);
      continue;
    }
    for (size_t y = 0; y < box.height; ++y)
      std::memmove(to + y * box.to_pitch, from + y * box.from_pitch, box.width);
  }
}

cudaError_t FillOperation::run(cudaStream_t, Device &) const {
  for (size_t z = 0; z < box.depth; ++z)
    for (size_t y = 0; y < box.height; ++y) {
      char *row = box.to + z * box.slice + y * box.pitch;
      switch (box.element) {
        case 4: fill_row<uint32_t>(row, box.width, box.value); break;
        case 2: fill_row<uint16_t>(row, box.width, box.value); break;
        default: std::memset(row, int(box.value), box.width); break;
      }
    }
  return cudaSuccess;
}

cudaError_t check_copy(const CopyBox &box, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (!box.width || !box.height || !box.depth) return cudaSuccess;
  if (!box.to || !box.from) return cudaErrorInvalidValue;
  if (box.height > 1 && (box.to_pitch < box.width || box.from_pitch < box.width))
    return cudaErrorInvalidPitchValue;
  Allocation to, from;
  const Place target = place_of(box.to, &to), source = place_of(box.from, &from);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault) {
    if (target == (to_device ? Place::pageable : Place::device)) return cudaErrorInvalidValue;
    if (source == (from_device ? Place::pageable : Place::device)) return cudaErrorInvalidValue;
  }
  if (target != Place::pageable &&
      !fits(to, box.to, span(box.width, box.height, box.depth, box.to_pitch, box.to_slice)))
    return cudaErrorInvalidValue;
  if (source != Place::pageable &&
      !fits(from, box.from, span(box.width, box.height, box.depth, box.from_pitch, box.from_slice)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t check_fill(const FillBox &box) {
  if (!box.width || !box.height || !box.depth) return cudaSuccess;
  if (!box.to) return cudaErrorInvalidValue;
  if (box.height > 1 && box.pitch < box.width * box.element) return cudaErrorInvalidPitchValue;
  Allocation to;
  if (place_of(box.to, &to) == Place::pageable ||
      !fits(to, box.to, span(box.width * box.element, box.height, box.depth, box.pitch, box.slice)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t copy(const CopyBox &box, cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  const cudaError_t error = check_copy(box, kind);
  if (error != cudaSuccess) return error;
  if (!box.width || !box.height || !box.depth) return cudaSuccess;
  const std::shared_ptr<Stream> on = stream_of(stream);
  if (!on) return cudaErrorInvalidResourceHandle;
  if (synchronous || on->capturing())
    return submit(stream, std::make_shared<CopyOperation>(box), synchronous);
  Allocation found;
  if (place_of(box.to, &found) == Place::pageable)
    return submit(stream, std::make_shared<CopyOperation>(box), true);
  if (place_of(box.from, &found) != Place::pageable)
    return submit(stream, std::make_shared<CopyOperation>(box), false);
  if (box.width * box.height * box.depth > staging_limit)
    return submit(stream, std::make_shared<CopyOperation>(box), true);
  return submit(stream, staged_copy(box), false);
}

cudaError_t fill(const FillBox &box, cudaStream_t stream, bool synchronous) {
  const cudaError_t error = check_fill(box);
  if (error != cudaSuccess) return error;
  if (!box.width || !box.height || !box.depth) return cudaSuccess;
  Allocation found;
  synchronous = synchronous && place_of(box.to, &found) == Place::host;
  return submit(stream, std::make_shared<FillOperation>(box), synchronous);
}

cudaError_t copy_box_of(const cudaMemcpy3DParms &parameters, CopyBox *box) {
  const cudaMemcpy3DParms &p = parameters;
  if (!p.srcArray == !p.srcPtr.ptr || !p.dstArray == !p.dstPtr.ptr) return cudaErrorInvalidValue;
  const Array *from = nullptr, *to = nullptr;
  if (p.srcArray && !(from = array_of(p.srcArray))) return cudaErrorInvalidResourceHandle;
  if (p.dstArray && !(to = array_of(p.dstArray))) return cudaErrorInvalidResourceHandle;
  // The extent counts elements when an array takes part, and bytes otherwise.
  const size_t element = from ? from->element : to ? to->element : 1;
  if (from && to && from->element != to->element) return cudaErrorInvalidValue;
  box->width = p.extent.width * element;
  box->height = p.extent.height;
  box->depth = p.extent.depth;
  if (from) {
    if (!from->holds(p.srcPos.x * element, p.srcPos.y, p.srcPos.z, box->width, box->height, box->depth))
      return cudaErrorInvalidValue;
    box->from = from->at(p.srcPos.x * element, p.srcPos.y, p.srcPos.z);
    box->from_pitch = from->pitch();
    box->from_slice = from->slice();
  } else {
    box->from_pitch = p.srcPtr.pitch;
    box->from_slice = p.srcPtr.pitch * p.srcPtr.ysize;
    box->from = static_cast<const char *>(p.srcPtr.ptr) + p.srcPos.x + p.srcPos.y * box->from_pitch + p.srcPos.z * box->from_slice;
  }
  if (to) {
    if (!to->holds(p.dstPos.x * element, p.dstPos.y, p.dstPos.z, box->width, box->height, box->depth))
      return cudaErrorInvalidValue;
    box->to = to->at(p.dstPos.x * element, p.dstPos.y, p.dstPos.z);
    box->to_pitch = to->pitch();
    box->to_slice = to->slice();
  } else {
    box->to_pitch = p.dstPtr.pitch;
    box->to_slice = p.dstPtr.pitch * p.dstPtr.ysize;
    box->to = static_cast<char *>(p.dstPtr.ptr) + p.dstPos.x + p.dstPos.y * box->to_pitch +
              p.dstPos.z * box->to_slice;
  }
  if (box->depth > 1 && ((!from && p.srcPtr.ysize < box->height) || (!to && p.dstPtr.ysize < box->height)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t fill_box_of(const cudaMemsetParams &parameters, FillBox *box) {
  if (parameters.elementSize != 1 && parameters.elementSize != 2 && parameters.elementSize != 4)
    return cudaErrorInvalidValue;
  box->to = static_cast<char *>(parameters.dst);
  box->pitch = parameters.pitch;
  box->width = parameters.width;
  box->height = parameters.height;
  box->value = parameters.value;
  box->element = parameters.elementSize;
  return cudaSuccess;
}

}  // namespace tile_migrate
