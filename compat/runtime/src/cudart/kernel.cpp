#include "kernel.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <map>

#include "../engine/engine.h"
#include "../engine/pool.h"
#include "trace.h"

namespace tile_migrate {

namespace {

constexpr size_t default_shared = 49152, largest_shared = 232448, multiprocessor_shared = 233472;
constexpr size_t reserved_shared = 1024;
constexpr int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32, threads_per_block = 1024;

struct FunctionSettings {
  int dynamic_shared = -1, carveout = -1;
};

struct Settings {
  std::mutex mutex;
  std::map<const Kernel *, FunctionSettings> of;
};

Settings &settings() {
  static Settings &all = *new Settings;
  return all;
}

FunctionSettings settings_of(const Kernel &kernel) {
  Settings &all = settings();
  std::lock_guard<std::mutex> guard(all.mutex);
  const auto found = all.of.find(&kernel);
  return found == all.of.end() ? FunctionSettings() : found->second;
}

size_t static_shared(const Kernel &kernel) {
  const tm_kernel_record *record = kernel.description();
  return record ? record->shared_static : 0;
}

size_t dynamic_limit(const Kernel &kernel) {
  const int asked = settings_of(kernel).dynamic_shared;
  const size_t own = static_shared(kernel);
  return asked >= 0 ? size_t(asked) : own < default_shared ? default_shared - own : 0;
}

int thread_limit(const Kernel &kernel) {
  const tm_kernel_record *record = kernel.description();
  return record && record->max_threads ? int(std::min<uint32_t>(record->max_threads, threads_per_block))
                                       : threads_per_block;
}

const char *symbol_name(const void *function) {
  Dl_info info;
  return dladdr(const_cast<void *>(function), &info) && info.dli_sname ? info.dli_sname : "(unknown)";
}

size_t aligned(size_t bytes) { return (bytes + 15) & ~size_t(15); }

}  // namespace

cudaError_t kernel_of(const void *function, Kernel **kernel) {
  if (!function) return cudaErrorInvalidDeviceFunction;
  Kernel *found = find_kernel(function);
  const char *name = nullptr;
  if (!found) found = registered_kernel(function, &name);
  if (found && found->description()) {
    *kernel = found;
    return cudaSuccess;
  }
  trace_note("kernel without an implementation", name ? name : found ? found->name.c_str() : symbol_name(function));
  return name || found ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidResourceHandle;
}

// CUDA 13 calls every impossible configuration an invalid value.
cudaError_t check_shape(Kernel &kernel, const LaunchShape &shape) {
  const dim3 &g = shape.grid, &b = shape.block;
  if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z) return cudaErrorInvalidValue;
  if (g.x > 2147483647u || g.y > 65535 || g.z > 65535) return cudaErrorInvalidValue;
  if (b.x > 1024 || b.y > 1024 || b.z > 64) return cudaErrorInvalidValue;
  const unsigned threads = b.x * b.y * b.z;
  if (threads > unsigned(thread_limit(kernel))) return cudaErrorInvalidValue;
  if (shape.shared_bytes && shape.shared_bytes > dynamic_limit(kernel)) return cudaErrorInvalidValue;
  if (shape.cooperative) {
    const uint64_t blocks = uint64_t(g.x) * g.y * g.z;
    const uint64_t fit = uint64_t(resident_blocks_of(kernel, int(threads), shape.shared_bytes)) * pool_size();
    if (blocks > fit) return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

int resident_blocks_of(Kernel &kernel, int threads, size_t shared_bytes) {
  if (threads <= 0 || threads > threads_per_block || shared_bytes > dynamic_limit(kernel)) return 0;
  const int rounded = (threads + 31) / 32 * 32;
  const size_t shared = static_shared(kernel) + shared_bytes + reserved_shared;
  const int blocks = std::min(blocks_per_multiprocessor, threads_per_multiprocessor / rounded);
  return std::min(blocks, int(multiprocessor_shared / shared));
}

KernelOperation::KernelOperation(Kernel &kernel, const void *function, const LaunchShape &shape,
                                 void *const *arguments)
    : kernel(kernel), function(function), shape(shape) {
  const tm_kernel_record *record = kernel.description();
  const uint32_t count = record ? record->parameter_count : 0;
  size_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) bytes += aligned(record->parameters[i].bytes);
  // Parameters may be aligned to more than operator new[] gives.
  values_.reset(new unsigned char[bytes + 128]);
  unsigned char *at = values_.get() + (-reinterpret_cast<uintptr_t>(values_.get()) & 127);
  pointers_.resize(count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    std::memcpy(at, arguments[i], record->parameters[i].bytes);
    pointers_[i] = at;
    at += aligned(record->parameters[i].bytes);
  }
}

cudaError_t KernelOperation::run(cudaStream_t stream, Device &device) const {
  tm_launch launch = {};
  launch.grid[0] = shape.grid.x, launch.grid[1] = shape.grid.y, launch.grid[2] = shape.grid.z;
  launch.block[0] = shape.block.x, launch.block[1] = shape.block.y, launch.block[2] = shape.block.z;
  launch.shared_bytes = shape.shared_bytes;
  launch.stream = stream;
  launch.device = device.index;
  launch.cooperative = shape.cooperative;
  launch.kernel = kernel.name.c_str();
  return cudaError_t(run_launch(launch, arguments()));
}

cudaError_t make_launch(const void *function, const LaunchShape &shape, void *const *arguments,
                        std::shared_ptr<const KernelOperation> *operation) {
  Kernel *kernel = nullptr;
  cudaError_t error = kernel_of(function, &kernel);
  if (error == cudaSuccess) error = check_shape(*kernel, shape);
  if (error != cudaSuccess) return error;
  const tm_kernel_record *record = kernel->description();
  if (record && record->parameter_count && !arguments) return cudaErrorInvalidValue;
  *operation = std::make_shared<KernelOperation>(*kernel, function, shape, arguments);
  return cudaSuccess;
}

}  // namespace tile_migrate

using namespace tile_migrate;

namespace {

cudaError_t launch(const void *function, const LaunchShape &shape, void **arguments, cudaStream_t stream) {
  std::shared_ptr<const KernelOperation> operation;
  const cudaError_t error = make_launch(function, shape, arguments, &operation);
  return error != cudaSuccess ? error : submit(stream, std::move(operation));
}

LaunchShape shape_of(const dim3 &grid, const dim3 &block, size_t shared_bytes, bool cooperative = false) {
  LaunchShape shape;
  shape.grid = grid;
  shape.block = block;
  shape.shared_bytes = shared_bytes;
  shape.cooperative = cooperative;
  return shape;
}

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t set_attribute(const void *function, cudaFuncAttribute attribute, int value) {
  Kernel *kernel = nullptr;
  const cudaError_t error = kernel_of(function, &kernel);
  if (error != cudaSuccess) return error;
  Settings &all = settings();
  std::lock_guard<std::mutex> guard(all.mutex);
  FunctionSettings &own = all.of[kernel];
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || size_t(value) + static_shared(*kernel) > largest_shared) return cudaErrorInvalidValue;
      own.dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      own.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed: return cudaSuccess;
    default: return cudaErrorNotSupported;
  }
}

cudaError_t occupancy(int *blocks, const void *function, int threads, size_t shared_bytes) {
  if (!blocks || threads <= 0) return cudaErrorInvalidValue;
  Kernel *kernel = nullptr;
  const cudaError_t error = kernel_of(function, &kernel);
  if (error == cudaSuccess) *blocks = resident_blocks_of(*kernel, threads, shared_bytes);
  return error;
}

}  // namespace

TM_EXPORT cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                       size_t shared_bytes, cudaStream_t stream) {
  return entry(Api::cudaLaunchKernel,
               [&] { return launch(function, shape_of(grid, block, shared_bytes), arguments, stream); });
}

TM_EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                                  size_t shared_bytes, cudaStream_t stream) {
  return entry(Api::cudaLaunchCooperativeKernel,
               [&] { return launch(function, shape_of(grid, block, shared_bytes, true), arguments, stream); });
}

TM_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
  return entry(Api::cudaLaunchKernelExC, [&] {
    if (!config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
    LaunchShape shape = shape_of(config->gridDim, config->blockDim, config->dynamicSmemBytes);
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute &attribute = config->attrs[i];
      switch (attribute.id) {
        case cudaLaunchAttributeCooperative: shape.cooperative = attribute.val.cooperative != 0; break;
        case cudaLaunchAttributeClusterDimension:
          if (attribute.val.clusterDim.x * attribute.val.clusterDim.y * attribute.val.clusterDim.z > 1)
            return cudaErrorNotSupported;
          break;
        // Hints; programmatic launches may start later than allowed, never earlier.
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributePriority:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        case cudaLaunchAttributeProgrammaticStreamSerialization:
        case cudaLaunchAttributeMemSyncDomain:
        case cudaLaunchAttributeMemSyncDomainMap:
        case cudaLaunchAttributePreferredSharedMemoryCarveout: break;
        default: return cudaErrorNotSupported;
      }
    }
    return launch(function, shape, arguments, config->stream);
  });
}

TM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream) {
  leave(Api::__cudaPushCallConfiguration, cudaSuccess);
  configurations.push_back(Configuration{grid, block, shared_bytes, static_cast<cudaStream_t>(stream)});
  return 0;
}

TM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream) {
  if (configurations.empty()) return leave(Api::__cudaPopCallConfiguration, cudaErrorMissingConfiguration);
  const Configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  return leave(Api::__cudaPopCallConfiguration, cudaSuccess);
}

// Kernel and function handles are the host function's address.
TM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  if (!kernel) return leave(Api::__cudaGetKernel, cudaErrorInvalidValue);
  *kernel = static_cast<cudaKernel_t>(const_cast<void *>(function));
  return leave(Api::__cudaGetKernel, cudaSuccess);
}

TM_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                         size_t shared_bytes, cudaStream_t stream) {
  return entry(Api::__cudaLaunchKernel,
               [&] { return launch(kernel, shape_of(grid, block, shared_bytes), arguments, stream); });
}

TM_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                              size_t shared_bytes, cudaStream_t stream) {
  const PerThreadDefault scope;
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

TM_EXPORT cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  return entry(Api::cudaGetKernel, [&] {
    Kernel *found = nullptr;
    if (!kernel) return cudaErrorInvalidValue;
    const cudaError_t error = kernel_of(function, &found);
    if (error == cudaSuccess) *kernel = static_cast<cudaKernel_t>(const_cast<void *>(function));
    return error;
  });
}

TM_EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t *result, const void *function) {
  return entry(Api::cudaGetFuncBySymbol, [&] {
    Kernel *found = nullptr;
    if (!result) return cudaErrorInvalidValue;
    const cudaError_t error = kernel_of(function, &found);
    if (error == cudaSuccess) *result = static_cast<cudaFunction_t>(const_cast<void *>(function));
    return error;
  });
}

TM_EXPORT cudaError_t cudaFuncGetName(const char **name, const void *function) {
  return entry(Api::cudaFuncGetName, [&] {
    Kernel *found = nullptr;
    if (!name) return cudaErrorInvalidValue;
    const cudaError_t error = kernel_of(function, &found);
    if (error == cudaSuccess) *name = found->name.c_str();
    return error;
  });
}

TM_EXPORT cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes) {
  return entry(Api::cudaFuncGetParamInfo, [&] {
    Kernel *found = nullptr;
    const cudaError_t error = kernel_of(function, &found);
    if (error != cudaSuccess) return error;
    const tm_kernel_record *record = found->description();
    if (!offset || index >= record->parameter_count) return cudaErrorInvalidValue;
    size_t at = 0;
    for (size_t i = 0;; ++i) {
      const size_t size = record->parameters[i].bytes;
      // The record has no alignments: those of the built-in types are their sizes, up to 16.
      const size_t alignment = size & -size ? std::min<size_t>(size & -size, 16) : 1;
      at = (at + alignment - 1) / alignment * alignment;
      if (i == index) break;
      at += size;
    }
    *offset = at;
    if (bytes) *bytes = record->parameters[index].bytes;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
  return entry(Api::cudaFuncGetAttributes, [&] {
    if (!attributes) return cudaErrorInvalidValue;
    Kernel *kernel = nullptr;
    const cudaError_t error = kernel_of(function, &kernel);
    if (error != cudaSuccess) return error;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = static_shared(*kernel);
    attributes->maxThreadsPerBlock = thread_limit(*kernel);
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = int(dynamic_limit(*kernel));
    attributes->preferredShmemCarveout = settings_of(*kernel).carveout;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
  return entry(Api::cudaFuncSetAttribute, [&] { return set_attribute(function, attribute, value); });
}

TM_EXPORT cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache config) {
  return entry(Api::cudaFuncSetCacheConfig, [&] {
    Kernel *kernel = nullptr;
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    return kernel_of(function, &kernel);
  });
}

TM_EXPORT cudaError_t cudaFuncSetSharedMemConfig(const void *function, cudaSharedMemConfig) {
  return entry(Api::cudaFuncSetSharedMemConfig, [&] {
    Kernel *kernel = nullptr;
    return kernel_of(function, &kernel);
  });
}

TM_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                                    size_t shared_bytes) {
  return entry(Api::cudaOccupancyMaxActiveBlocksPerMultiprocessor,
               [&] { return occupancy(blocks, function, threads, shared_bytes); });
}

TM_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                             int threads, size_t shared_bytes,
                                                                             unsigned flags) {
  return entry(Api::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, [&] {
    return flags & ~1u ? cudaErrorInvalidValue : occupancy(blocks, function, threads, shared_bytes);
  });
}

TM_EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks,
                                                                int threads) {
  return entry(Api::cudaOccupancyAvailableDynamicSMemPerBlock, [&] {
    Kernel *kernel = nullptr;
    if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    const cudaError_t error = kernel_of(function, &kernel);
    if (error != cudaSuccess) return error;
    const size_t share = multiprocessor_shared / size_t(blocks);
    const size_t taken = static_shared(*kernel) + reserved_shared;
    *bytes = share > taken ? std::min(share - taken, largest_shared - static_shared(*kernel)) : 0;
    return cudaSuccess;
  });
}
