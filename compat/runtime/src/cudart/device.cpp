// Devices: choosing them, what they are, what they may do.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../engine/pool.h"
#include "internal.h"

namespace tile_migrate {

namespace {

constexpr int megahertz = 1000;  // the API counts in kHz

const char *processor_name() {
  static const std::string &name = *[] {
    auto *text = new std::string("CPU");
    if (std::FILE *file = std::fopen("/proc/cpuinfo", "r")) {
      char line[256];
      while (std::fgets(line, sizeof line, file)) {
        if (std::strncmp(line, "model name", 10) != 0) continue;
        const char *value = std::strchr(line, ':');
        if (value) *text = std::string(value + 2, std::strcspn(value + 2, "\n"));
        break;
      }
      std::fclose(file);
    }
    return text;
  }();
  return name.c_str();
}

void bus_id(int device, char *text, size_t bytes) {
  std::snprintf(text, bytes, "%04x:%02x:%02x.0", 0, unsigned(device + 1), 0u);
}

}  // namespace

// The limits are those of compute capability 9.0; sizes and counts are the machine's.
void fill_properties(cudaDeviceProp &p, int device) {
  std::memset(&p, 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "tile-migrate virtual device (%.200s)", processor_name());
  std::memcpy(p.uuid.bytes, "tile-migrate-", 13);
  p.uuid.bytes[15] = char(device);
  p.totalGlobalMem = device_at(device)->arena.total();
  p.sharedMemPerBlock = 49152;
  p.regsPerBlock = 65536;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 65536;
  p.major = 9;
  p.minor = 0;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = int(pool_size());
  p.canMapHostMemory = 1;
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  for (int i = 0; i < 2; ++i) {
    p.maxTexture2D[i] = i ? 65536 : 131072;
    p.maxTexture2DMipmap[i] = p.maxTexture2DGather[i] = 32768;
    p.maxSurface2D[i] = i ? 65536 : 131072;
  }
  p.maxTexture2DLinear[0] = 131072;
  p.maxTexture2DLinear[1] = 65000;
  p.maxTexture2DLinear[2] = 2097120;
  for (int i = 0; i < 3; ++i) p.maxTexture3D[i] = 16384;
  p.maxSurface1D = 32768;
  p.surfaceAlignment = 512;
  p.concurrentKernels = 1;
  p.pciBusID = device + 1;
  p.asyncEngineCount = 3;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = 128;
  p.l2CacheSize = 52428800;
  p.maxThreadsPerMultiProcessor = 2048;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = 233472;
  p.regsPerMultiprocessor = 65536;
  p.managedMemory = 1;
  p.hostNativeAtomicSupported = 1;
  p.pageableMemoryAccess = 1;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = 232448;
  p.pageableMemoryAccessUsesHostPageTables = 1;
  p.directManagedMemAccessFromHost = 1;
  p.maxBlocksPerMultiProcessor = 32;
  p.reservedSharedMemPerBlock = 1024;
  p.hostRegisterSupported = 1;
  p.hostRegisterReadOnlySupported = 1;
  p.memoryPoolsSupported = 1;
  p.unifiedFunctionPointers = 1;
  p.hostNumaId = -1;
  p.deviceNumaId = -1;
  p.clockRate = 2000 * megahertz;
  p.memoryClockRate = 2400 * megahertz;
  p.deviceOverlap = 1;
  p.computeMode = cudaComputeModeDefault;
  p.maxTexture1DLinear = 268435456;
  p.singleToDoublePrecisionPerfRatio = 2;
}

cudaError_t device_attribute(int *value, int attribute, int device) {
  cudaDeviceProp p;
  fill_properties(p, device);
  const struct {
    int attribute, value;
  } table[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, int(p.sharedMemPerBlock)},
      {cudaDevAttrTotalConstantMemory, int(p.totalConstMem)},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, int(p.memPitch)},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrClockRate, p.clockRate},
      {cudaDevAttrTextureAlignment, int(p.textureAlignment)},
      {cudaDevAttrGpuOverlap, p.deviceOverlap},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
      {cudaDevAttrIntegrated, p.integrated},
      {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
      {cudaDevAttrComputeMode, p.computeMode},
      {cudaDevAttrMaxTexture1DWidth, p.maxTexture1D},
      {cudaDevAttrMaxTexture2DWidth, p.maxTexture2D[0]},
      {cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1]},
      {cudaDevAttrMaxTexture3DWidth, p.maxTexture3D[0]},
      {cudaDevAttrMaxTexture3DHeight, p.maxTexture3D[1]},
      {cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[2]},
      {cudaDevAttrSurfaceAlignment, int(p.surfaceAlignment)},
      {cudaDevAttrConcurrentKernels, p.concurrentKernels},
      {cudaDevAttrEccEnabled, p.ECCEnabled},
      {cudaDevAttrPciBusId, p.pciBusID},
      {cudaDevAttrPciDeviceId, p.pciDeviceID},
      {cudaDevAttrPciDomainId, p.pciDomainID},
      {cudaDevAttrTccDriver, p.tccDriver},
      {cudaDevAttrMemoryClockRate, p.memoryClockRate},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
      {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
      {cudaDevAttrTexturePitchAlignment, int(p.texturePitchAlignment)},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported},
      {cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported},
      {cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, int(p.sharedMemPerMultiprocessor)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, p.managedMemory},
      {cudaDevAttrIsMultiGpuBoard, p.isMultiGpuBoard},
      {cudaDevAttrMultiGpuBoardGroupID, p.multiGpuBoardGroupID},
      {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, p.singleToDoublePrecisionPerfRatio},
      {cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess},
      {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
      {cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, int(p.sharedMemPerBlockOptin)},
      {cudaDevAttrCanFlushRemoteWrites, 0},
      {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
      {cudaDevAttrPageableMemoryAccessUsesHostPageTables, p.pageableMemoryAccessUsesHostPageTables},
      {cudaDevAttrDirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
      {cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize},
      {cudaDevAttrReservedSharedMemoryPerBlock, int(p.reservedSharedMemPerBlock)},
      {cudaDevAttrSparseCudaArraySupported, 0},
      {cudaDevAttrHostRegisterReadOnlySupported, p.hostRegisterReadOnlySupported},
      {cudaDevAttrTimelineSemaphoreInteropSupported, 0},
      {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
      {cudaDevAttrGPUDirectRDMASupported, 0},
      {cudaDevAttrMemoryPoolSupportedHandleTypes, 0},
      {cudaDevAttrClusterLaunch, p.clusterLaunch},
      {cudaDevAttrDeferredMappingCudaArraySupported, 0},
      {cudaDevAttrIpcEventSupport, p.ipcEventSupported},
      {cudaDevAttrNumaConfig, p.deviceNumaConfig},
      {cudaDevAttrNumaId, p.deviceNumaId},
      {cudaDevAttrHostNumaId, p.hostNumaId},
  };
  for (const auto &entry : table)
    if (entry.attribute == attribute) {
      *value = entry.value;
      return cudaSuccess;
    }
  return attribute > 0 && attribute < int(cudaDevAttrMax) ? cudaErrorNotSupported : cudaErrorInvalidValue;
}

}  // namespace tile_migrate

using namespace tile_migrate;

namespace {

cudaError_t properties(cudaDeviceProp *to, size_t bytes, int device) {
  if (!to) return cudaErrorInvalidValue;
  if (!device_at(device)) return cudaErrorInvalidDevice;
  cudaDeviceProp all;
  fill_properties(all, device);
  std::memcpy(to, &all, std::min(bytes, sizeof all));
  return cudaSuccess;
}

// Calls that are about no device in particular, but need one.
template <class Body>
cudaError_t with_device(Api api, Body body) noexcept {
  if (runtime().devices.empty()) return leave(api, cudaErrorNoDevice);
  return entry(api, body);
}

}  // namespace

TM_EXPORT cudaError_t cudaGetDeviceCount(int *count) {
  return entry(Api::cudaGetDeviceCount, [&] {
    if (!count) return cudaErrorInvalidValue;
    *count = int(runtime().devices.size());
    return *count ? cudaSuccess : cudaErrorNoDevice;
  });
}

TM_EXPORT cudaError_t cudaGetDevice(int *device) {
  return with_device(Api::cudaGetDevice, [&] {
    if (!device) return cudaErrorInvalidValue;
    *device = current_device_index();
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaSetDevice(int device) {
  if (in_callback()) return leave(Api::cudaSetDevice, cudaErrorNotPermitted);
  if (!device_at(device)) return leave(Api::cudaSetDevice, cudaErrorInvalidDevice);
  set_current_device(device);
  return leave(Api::cudaSetDevice, device_fault());
}

TM_EXPORT cudaError_t cudaInitDevice(int device, unsigned flags, unsigned valid) {
  return entry(Api::cudaInitDevice, [&] {
    Device *found = device_at(device);
    if (!found) return cudaErrorInvalidDevice;
    if (valid & cudaInitDeviceFlagsAreValid) found->flags.store(flags);
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaSetValidDevices(int *devices, int count) {
  return with_device(Api::cudaSetValidDevices, [&] {
    if (count < 0 || (count && !devices)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i)
      if (!device_at(devices[i])) return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

// The size of cudaDeviceProp in CUDA 13, which lacks the members of old at its end.
TM_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp *to, int device) {
  return with_device(Api::cudaGetDeviceProperties,
                     [&] { return properties(to, offsetof(cudaDeviceProp, clockRate), device); });
}

// The whole structure: what our headers call cudaGetDeviceProperties.
TM_EXPORT cudaError_t tm_device_properties(cudaDeviceProp *to, int device) {
  return with_device(Api::cudaGetDeviceProperties, [&] { return properties(to, sizeof *to, device); });
}

TM_EXPORT cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  return with_device(Api::cudaDeviceGetAttribute, [&] {
    if (!value) return cudaErrorInvalidValue;
    if (!device_at(device)) return cudaErrorInvalidDevice;
    return device_attribute(value, attribute, device);
  });
}

// All devices are alike.
TM_EXPORT cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted) {
  return with_device(Api::cudaChooseDevice, [&] {
    if (!device || !wanted) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceReset(void) {
  if (runtime().devices.empty()) return leave(Api::cudaDeviceReset, cudaErrorNoDevice);
  if (in_callback()) return leave(Api::cudaDeviceReset, cudaErrorNotPermitted);
  reset_device(current_device());
  return leave(Api::cudaDeviceReset, cudaSuccess);
}

TM_EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return with_device(Api::cudaSetDeviceFlags, [&] {
    if (flags & ~unsigned(cudaDeviceMask)) return cudaErrorInvalidValue;
    current_device().flags.store(flags);
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  return with_device(Api::cudaGetDeviceFlags, [&] {
    if (!flags) return cudaErrorInvalidValue;
    *flags = current_device().flags.load() | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return with_device(Api::cudaDeviceSetLimit, [&] {
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    current_device().limits[limit].store(value);
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  return with_device(Api::cudaDeviceGetLimit, [&] {
    if (limit < cudaLimitStackSize || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    if (!value) return cudaErrorInvalidValue;
    *value = current_device().limits[limit].load();
    return cudaSuccess;
  });
}

// Caches and banks are the processor's own: preferences are accepted and change nothing.
TM_EXPORT cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return with_device(Api::cudaDeviceSetCacheConfig, [&] {
    return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual ? cudaErrorInvalidValue : cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
  return with_device(Api::cudaDeviceGetCacheConfig, [&] {
    if (!config) return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return with_device(Api::cudaDeviceSetSharedMemConfig, [&] {
    return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                                                             : cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
  return with_device(Api::cudaDeviceGetSharedMemConfig, [&] {
    if (!config) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaCtxResetPersistingL2Cache(void) {
  return with_device(Api::cudaCtxResetPersistingL2Cache, [] { return cudaSuccess; });
}

TM_EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
  return with_device(Api::cudaDeviceGetPCIBusId, [&] {
    if (!text || bytes < 13) return cudaErrorInvalidValue;
    if (!device_at(device)) return cudaErrorInvalidDevice;
    bus_id(device, text, size_t(bytes));
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
  return with_device(Api::cudaDeviceGetByPCIBusId, [&] {
    if (!device || !text) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0, slot = 0;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 &&
        (domain = 0, std::sscanf(text, "%x:%x", &bus, &slot) != 2))
      return cudaErrorInvalidValue;
    if (domain || slot || !device_at(int(bus) - 1)) return cudaErrorInvalidDevice;
    *device = int(bus) - 1;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  return with_device(Api::cudaDeviceCanAccessPeer, [&] {
    if (!can) return cudaErrorInvalidValue;
    if (!device_at(device) || !device_at(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return with_device(Api::cudaDeviceEnablePeerAccess, [&] {
    if (flags) return cudaErrorInvalidValue;
    if (!device_at(peer)) return cudaErrorInvalidDevice;
    if (peer == current_device_index()) return cudaErrorPeerAccessUnsupported;
    const uint64_t bit = uint64_t(1) << peer;
    return current_device().peers.fetch_or(bit) & bit ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return with_device(Api::cudaDeviceDisablePeerAccess, [&] {
    if (!device_at(peer)) return cudaErrorInvalidDevice;
    const uint64_t bit = uint64_t(1) << peer;
    return current_device().peers.fetch_and(~bit) & bit ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

TM_EXPORT cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int device, int peer) {
  return with_device(Api::cudaDeviceGetP2PAttribute, [&] {
    if (!value) return cudaErrorInvalidValue;
    if (!device_at(device) || !device_at(peer) || device == peer) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank: *value = 0; return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported: *value = 1; return cudaSuccess;
      case cudaDevP2PAttrCudaArrayAccessSupported: *value = 0; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

TM_EXPORT cudaError_t cudaDriverGetVersion(int *version) {
  return entry(Api::cudaDriverGetVersion, [&] {
    if (!version) return cudaErrorInvalidValue;
    *version = 13000;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaRuntimeGetVersion(int *version) {
  return entry(Api::cudaRuntimeGetVersion, [&] {
    if (!version) return cudaErrorInvalidValue;
    *version = 13000;
    return cudaSuccess;
  });
}

TM_EXPORT cudaError_t cudaProfilerStart(void) {
  return with_device(Api::cudaProfilerStart, [] { return cudaSuccess; });
}

TM_EXPORT cudaError_t cudaProfilerStop(void) {
  return with_device(Api::cudaProfilerStop, [] { return cudaSuccess; });
}

TM_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  return entry(Api::cudaThreadExchangeStreamCaptureMode, [&] {
    static thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
    if (!mode) return cudaErrorInvalidValue;
    std::swap(own, *mode);
    return cudaSuccess;
  });
}
