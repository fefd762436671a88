// Copies and fills: every shape is a box of rows.
#ifndef TM_CUDART_COPY_H
#define TM_CUDART_COPY_H

#include <memory>

#include "stream.h"

namespace tile_migrate {

// Bytes; height rows of `width` a slice, depth slices.
struct CopyBox {
  char *to = nullptr;
  size_t to_pitch = 0, to_slice = 0;
  const char *from = nullptr;
  size_t from_pitch = 0, from_slice = 0;
  size_t width = 0, height = 1, depth = 1;
};

struct FillBox {
  char *to = nullptr;
  size_t pitch = 0, slice = 0;
  size_t width = 0, height = 1, depth = 1;  // width in elements
  unsigned value = 0, element = 1;          // element: 1, 2 or 4 bytes
};

class CopyOperation final : public Operation {
 public:
  explicit CopyOperation(const CopyBox &box) : box(box) {}
  cudaError_t run(cudaStream_t, Device &) const override;
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemcpy; }
  bool small() const override { return box.width * box.height * box.depth <= 16384; }
  void perform() const;
  const CopyBox box;
  std::shared_ptr<char> staged;  // keeps a copy of pageable source bytes alive
};

class FillOperation final : public Operation {
 public:
  explicit FillOperation(const FillBox &box) : box(box) {}
  cudaError_t run(cudaStream_t, Device &) const override;
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemset; }
  bool small() const override { return box.width * box.element * box.height * box.depth <= 16384; }
  const FillBox box;
};

// Whether `kind` fits the two sides, and both lie within their allocations.
cudaError_t check_copy(const CopyBox &box, cudaMemcpyKind kind);
cudaError_t check_fill(const FillBox &box);
cudaError_t copy_box_of(const cudaMemcpy3DParms &parameters, CopyBox *box);
cudaError_t fill_box_of(const cudaMemsetParams &parameters, FillBox *box);
// Puts a copy on a stream with CUDA's rules about which copies return only when they are done.
cudaError_t copy(const CopyBox &box, cudaMemcpyKind kind, cudaStream_t stream, bool synchronous);
cudaError_t fill(const FillBox &box, cudaStream_t stream, bool synchronous);

}  // namespace tile_migrate

#endif
