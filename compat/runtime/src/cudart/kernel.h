// Kernels as the API sees them, and the operation that a launch is.
#ifndef TM_CUDART_KERNEL_H
#define TM_CUDART_KERNEL_H

#include <memory>
#include <vector>

#include "../launch/launch.h"
#include "internal.h"

namespace tile_migrate {

struct LaunchShape {
  dim3 grid, block;
  size_t shared_bytes = 0;
  bool cooperative = false;
};

// The kernel behind what the API calls a function: 400 for no kernel, 209 for one without code here.
cudaError_t kernel_of(const void *function, Kernel **kernel);
// What the launch of it would say.
cudaError_t check_shape(Kernel &kernel, const LaunchShape &shape);
// Of one multiprocessor; 0: none fits.
int resident_blocks_of(Kernel &kernel, int threads, size_t shared_bytes);

class KernelOperation final : public Operation {
 public:
  // arguments: as cudaLaunchKernel takes them; the values are copied.
  KernelOperation(Kernel &kernel, const void *function, const LaunchShape &shape, void *const *arguments);
  cudaError_t run(cudaStream_t stream, Device &device) const override;
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeKernel; }
  void **arguments() const { return const_cast<void **>(pointers_.data()); }

  Kernel &kernel;
  const void *const function;
  const LaunchShape shape;

 private:
  std::unique_ptr<unsigned char[]> values_;
  std::vector<void *> pointers_;
};

cudaError_t make_launch(const void *function, const LaunchShape &shape, void *const *arguments,
                        std::shared_ptr<const KernelOperation> *operation);

}  // namespace tile_migrate

#endif
