// The doors that launches of the program come through.
#include "gpu.h"
#include "tm_launch_cuda.h"

extern "C" {
cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __real_cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __real_cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __real_cudaLaunchCooperativeKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __real_cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *, const void *, void **);
#if CUDART_VERSION >= 13000
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __real___cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
#endif
}

namespace tile_migrate {

thread_local const Request *current_request = nullptr;

namespace {

constexpr int64_t kLargestGrid[3] = {2147483647, 65535, 65535};
constexpr int64_t kLargestBlock[3] = {1024, 1024, 64};
constexpr int64_t kThreads = 1024;
constexpr uint64_t kPlainShared = 49152;  // more has to be asked for

// In modes that compare, an error of the kernel itself shows at once.
int finished(cudaError_t error) {
  if (error != cudaSuccess || !current_request->waits || capture_active(current_request->stream)) return error;
  return cudaDeviceSynchronize();
}

bool per_thread(Door door) {
  return door == Door::kernel_per_thread || door == Door::handle_per_thread || door == Door::extended_per_thread ||
         door == Door::cooperative_per_thread;
}

cudaError_t real_launch(const Request &r, void **arguments) {
  switch (r.door) {
    case Door::kernel: return __real_cudaLaunchKernel(r.function, r.grid, r.block, arguments, r.shared_bytes, r.stream);
    case Door::kernel_per_thread:
      return __real_cudaLaunchKernel_ptsz(r.function, r.grid, r.block, arguments, r.shared_bytes, r.stream);
#if CUDART_VERSION >= 13000
    case Door::handle:
      return __real___cudaLaunchKernel((cudaKernel_t)r.function, r.grid, r.block, arguments, r.shared_bytes, r.stream);
    case Door::handle_per_thread:
      return __real___cudaLaunchKernel_ptsz((cudaKernel_t)r.function, r.grid, r.block, arguments, r.shared_bytes, r.stream);
#endif
    case Door::extended: return __real_cudaLaunchKernelExC(r.config, r.function, arguments);
    case Door::extended_per_thread: return __real_cudaLaunchKernelExC_ptsz(r.config, r.function, arguments);
    case Door::cooperative:
      return __real_cudaLaunchCooperativeKernel(r.function, r.grid, r.block, arguments, r.shared_bytes, r.stream);
    case Door::cooperative_per_thread:
      return __real_cudaLaunchCooperativeKernel_ptsz(r.function, r.grid, r.block, arguments, r.shared_bytes, r.stream);
    default: return cudaErrorNotSupported;
  }
}

cudaError_t enter(Request request, void **arguments) {
  Kernel *kernel = kernel_of(request.function);
  if (!kernel) return real_launch(request, arguments);
  if (per_thread(request.door) && !request.stream) request.stream = cudaStreamPerThread;
  request.waits = launches_are_synchronous();
  int device = 0;
  cudaGetDevice(&device);
  tm_launch launch = {{request.grid.x, request.grid.y, request.grid.z},
                      {request.block.x, request.block.y, request.block.z},
                      request.shared_bytes,
                      request.stream,
                      device,
                      request.door == Door::cooperative || request.door == Door::cooperative_per_thread,
                      kernel->name.c_str(),
                      0};
  const Request *outer = current_request;
  current_request = &request;
  int error = run_launch(launch, arguments);
  current_request = outer;
  return (cudaError_t)error;
}

cudaError_t enter_extended(Door door, const cudaLaunchConfig_t *config, const void *function, void **arguments) {
  Request request{door, function, {}, {}, 0, nullptr, config};
  if (!config) return real_launch(request, arguments);
  request.grid = config->gridDim, request.block = config->blockDim;
  request.shared_bytes = config->dynamicSmemBytes, request.stream = config->stream;
  request.plain = config->numAttrs == 0;
  return enter(request, arguments);
}

template <class T>
bool within(const T values[3], const int64_t largest[3]) {
  for (int i = 0; i < 3; ++i)
    if (values[i] < 1 || values[i] > largest[i]) return false;
  return true;
}

template <class T>
bool is_launch(const T grid[3], const T block[3]) {
  return within(grid, kLargestGrid) && within(block, kLargestBlock) && (int64_t)block[0] * block[1] * block[2] <= kThreads;
}

// A launch that the CUDA kernel cannot take has to fail as it does.
bool original_takes(const tm_launch &launch) {
  if (!is_launch(launch.grid, launch.block)) return false;
  if (launch.shared_bytes <= kPlainShared) return true;
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, current_request->function) == cudaSuccess)
    return launch.shared_bytes <= (uint64_t)attributes.maxDynamicSharedSizeBytes;
  cudaGetLastError();
  return false;
}

}  // namespace

int run_kept(const tm_launch *, void **arguments) { return finished(real_launch(*current_request, arguments)); }

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {

int tm_gpu_launch(const tm_launch *launch, const void *function, const int64_t grid[3], const int64_t block[3],
                  uint64_t shared_bytes, void **values) {
  if (!current_request || !current_request->plain || launch->cooperative) return TM_NOT_APPLICABLE;
  if (!is_launch(grid, block) || !original_takes(*launch)) return TM_NOT_APPLICABLE;
  if (shared_bytes > kPlainShared) {
    cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (error != cudaSuccess) {
      cudaGetLastError();
      return TM_NOT_APPLICABLE;
    }
  }
  dim3 blocks((unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]);
  dim3 threads((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
  return finished(__real_cudaLaunchKernel(function, blocks, threads, values, shared_bytes, (cudaStream_t)launch->stream));
}

cudaError_t __wrap_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  return enter(Request{Door::kernel, function, grid, block, shared, stream}, arguments);
}
cudaError_t __wrap_cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                         cudaStream_t stream) {
  return enter(Request{Door::kernel_per_thread, function, grid, block, shared, stream}, arguments);
}
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                               cudaStream_t stream) {
  return enter(Request{Door::cooperative, function, grid, block, shared, stream}, arguments);
}
cudaError_t __wrap_cudaLaunchCooperativeKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                                    cudaStream_t stream) {
  return enter(Request{Door::cooperative_per_thread, function, grid, block, shared, stream}, arguments);
}
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
  return enter_extended(Door::extended, config, function, arguments);
}
cudaError_t __wrap_cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
  return enter_extended(Door::extended_per_thread, config, function, arguments);
}
#if CUDART_VERSION >= 13000
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  return enter(Request{Door::handle, kernel, grid, block, shared, stream}, arguments);
}
cudaError_t __wrap___cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                           cudaStream_t stream) {
  return enter(Request{Door::handle_per_thread, kernel, grid, block, shared, stream}, arguments);
}
#endif

}  // extern "C"
