// Programs on a GPU: the real CUDA runtime, with the launch seam put in front of it by the linker's
// --wrap. Each __wrap_NAME here is reached by the program's calls of NAME, __real_NAME is the runtime's.
#ifndef TM_GPU_H
#define TM_GPU_H

#include <cuda_runtime_api.h>

#include <string>

#include "../launch/launch.h"

namespace tile_migrate {

// Which call of the program a launch came through.
enum class Door { kernel, kernel_per_thread, handle, handle_per_thread, extended, extended_per_thread, cooperative, cooperative_per_thread };

struct Request {
  Door door;
  const void *function;  // host function or cudaKernel_t, as the program passed it
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
  const cudaLaunchConfig_t *config = nullptr;  // of the extended doors
  bool plain = true;                           // no attribute, not cooperative
  bool waits = false;                          // every launch ends before the next begins
};

// The launch that this OS thread is in. Null: none.
extern thread_local const Request *current_request;

// Null: the program never registered this function.
Kernel *kernel_of(const void *function);
// The launch through its door, past the seam.
int run_kept(const tm_launch *launch, void **arguments);
// Whether a stream of this process is being captured: then nothing may wait.
bool capture_active(cudaStream_t stream);

}  // namespace tile_migrate

#endif
