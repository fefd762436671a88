// The CUDA runtime API's types: own declarations, laid out as CUDA 13 lays them out, so that objects
// built by nvcc and by g++ share one runtime. Members that CUDA 13 dropped come last.
#ifndef TM_RUNTIME_TYPES_H
#define TM_RUNTIME_TYPES_H
#include <stddef.h>

#include "tm_language.h"
#include "tm_runtime_enums.h"
#include "vector_types.h"

typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
typedef struct CUgraphDeviceUpdatableNode_st *cudaGraphDeviceNode_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);
typedef unsigned cudaLogIterator;
typedef struct CUlogsCallbackEntry_st *cudaLogsCallbackHandle;
typedef void (*cudaLogsCallback_t)(void *, cudaLogLevel, char *, size_t);
typedef struct cudaAsyncCallbackEntry *cudaAsyncCallbackHandle_t;
typedef struct cudaAsyncNotificationInfo cudaAsyncNotificationInfo_t;
typedef void (*cudaAsyncCallback)(cudaAsyncNotificationInfo_t *, void *, cudaAsyncCallbackHandle_t);
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaPeerAccessDefault 0x00
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceScheduleMask 0x07
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaDeviceSyncMemops 0x80
#define cudaDeviceMask 0xff
#define cudaInitDeviceFlagsAreValid 0x01
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaIpcMemLazyEnablePeerAccess 0x01
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2

struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaChannelFormatDesc { int x, y, z, w; enum cudaChannelFormatKind f; };
struct cudaMemcpy3DParms {
  cudaArray_t srcArray; struct cudaPos srcPos; struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray; struct cudaPos dstPos; struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent; enum cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray; struct cudaPos srcPos; struct cudaPitchedPtr srcPtr; int srcDevice;
  cudaArray_t dstArray; struct cudaPos dstPos; struct cudaPitchedPtr dstPtr; int dstDevice;
  struct cudaExtent extent;
};
struct cudaMemcpyNodeParams { int flags, reserved[3]; struct cudaMemcpy3DParms copyParams; };
struct cudaMemsetParams { void *dst; size_t pitch; unsigned value, elementSize; size_t width, height; };
struct cudaMemsetParamsV2 { void *dst; size_t pitch; unsigned value, elementSize; size_t width, height; };
struct cudaAccessPolicyWindow {
  void *base_ptr; size_t num_bytes; float hitRatio; enum cudaAccessProperty hitProp, missProp;
};
struct cudaHostNodeParams { cudaHostFn_t fn; void *userData; };
struct cudaHostNodeParamsV2 { cudaHostFn_t fn; void *userData; };
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { cudaMipmappedArray_t mipmap; } mipmap;
    struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    struct { int reserved[32]; } reserved;
  } res;
  unsigned flags;
};
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3]; enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode; int sRGB; float borderColor[4]; int normalizedCoords;
  unsigned maxAnisotropy; enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc {
  enum cudaResourceViewFormat format; size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
};
struct textureReference {
  int normalized; enum cudaTextureFilterMode filterMode; enum cudaTextureAddressMode addressMode[3];
  struct cudaChannelFormatDesc channelDesc; int sRGB;
};
struct cudaPointerAttributes {
  enum cudaMemoryType type; int device; void *devicePointer, *hostPointer; long reserved[8];
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout, clusterDimMustBeSet;
  int requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[16];
};
struct cudaMemLocation { enum cudaMemLocationType type; int id; };
struct cudaMemAccessDesc { struct cudaMemLocation location; enum cudaMemAccessFlags flags; };
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType; enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location; void *win32SecurityAttributes; size_t maxSize;
  unsigned short usage; unsigned char reserved[54];
};
struct cudaMemPoolPtrExportData { unsigned char reserved[64]; };
struct cudaMemAllocNodeParams {
  struct cudaMemPoolProps poolProps; const struct cudaMemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize; void *dptr;
};
struct cudaMemAllocNodeParamsV2 {
  struct cudaMemPoolProps poolProps; const struct cudaMemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize; void *dptr;
};
struct cudaMemFreeNodeParams { void *dptr; };
struct cudaMemcpyAttributes {
  enum cudaMemcpySrcAccessOrder srcAccessOrder; struct cudaMemLocation srcLocHint, dstLocHint;
  unsigned flags;
};
struct cudaOffset3D { size_t x, y, z; };
struct cudaMemcpy3DOperand {
  enum cudaMemcpy3DOperandType type;
  union {
    struct { void *ptr; size_t rowLength, layerHeight; struct cudaMemLocation locHint; } ptr;
    struct { cudaArray_t array; struct cudaOffset3D offset; } array;
  } op;
};
struct cudaMemcpy3DBatchOp {
  struct cudaMemcpy3DOperand src, dst; struct cudaExtent extent;
  enum cudaMemcpySrcAccessOrder srcAccessOrder; unsigned flags;
};
struct CUuuid_st { char bytes[16]; };
typedef struct CUuuid_st cudaUUID_t;
struct cudaDeviceProp {
  char name[256]; cudaUUID_t uuid; char luid[8]; unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock, warpSize; size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3]; size_t totalConstMem;
  int major, minor; size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3];
  int maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2];
  int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment; int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID;
  int tccDriver, asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported; size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, pageableMemoryAccess, concurrentManagedAccess;
  int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize; size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions; int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId; unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported, reserved[56];
  // Until CUDA 12.
  int clockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, maxTexture1DLinear;
  int memoryClockRate, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};
typedef struct cudaIpcMemHandle_st { char reserved[64]; } cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st { char reserved[64]; } cudaIpcEventHandle_t;
struct cudaKernelNodeParams {
  void *func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void **kernelParams, **extra;
};
struct cudaKernelNodeParamsV2 {
  void *func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void **kernelParams, **extra;
};
struct cudaChildGraphNodeParams { cudaGraph_t graph; enum cudaGraphChildGraphNodeOwnership ownership; };
struct cudaEventRecordNodeParams { cudaEvent_t event; };
struct cudaEventWaitNodeParams { cudaEvent_t event; };
// In CUDA 13 the constructors of dim3 keep such members out of plain C unions; C++ has the same layout.
struct cudaGraphNodeParams {
  enum cudaGraphNodeType type; int reserved0[3];
  union {
    long long reserved1[29];
    struct cudaKernelNodeParamsV2 kernel;
    struct cudaMemcpyNodeParams memcpy;
    struct cudaMemsetParamsV2 memset;
    struct cudaHostNodeParamsV2 host;
    struct cudaChildGraphNodeParams graph;
    struct cudaEventWaitNodeParams eventWait;
    struct cudaEventRecordNodeParams eventRecord;
    struct cudaMemAllocNodeParamsV2 alloc;
    struct cudaMemFreeNodeParams free;
  };
  long long reserved2;
#ifdef __cplusplus
  __host__ cudaGraphNodeParams() : type(cudaGraphNodeTypeKernel), reserved0{}, reserved1{}, reserved2(0) {}
#endif
};
typedef struct cudaGraphEdgeData_st {
  unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;
typedef struct cudaGraphInstantiateParams_st {
  unsigned long long flags; cudaStream_t uploadStream; cudaGraphNode_t errNode_out;
  enum cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;
typedef struct cudaGraphExecUpdateResultInfo_st {
  enum cudaGraphExecUpdateResult result; cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
union cudaLaunchAttributeValue {
  char pad[64];
  struct cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  enum cudaSynchronizationPolicy syncPolicy;
  struct { unsigned x, y, z; } clusterDim;
  enum cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct { cudaEvent_t event; int flags, triggerAtBlockStart; } programmaticEvent;
  int priority;
  struct { unsigned x, y, z; } preferredClusterDim;
  struct { cudaEvent_t event; int flags; } launchCompletionEvent;
  struct { int deviceUpdatable; cudaGraphDeviceNode_t devNode; } deviceUpdatableKernelNode;
  unsigned sharedMemCarveout;
};
typedef struct cudaLaunchAttribute_st {
  enum cudaLaunchAttributeID id; char pad[4]; union cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;
typedef enum cudaLaunchAttributeID cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue cudaLaunchAttributeValue;
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttrID cudaLaunchAttributeID
#define cudaKernelNodeAttrValue cudaLaunchAttributeValue
#define cudaKernelNodeAttributeCooperative cudaLaunchAttributeCooperative
#define cudaKernelNodeAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
enum cudaDataType_t {
  CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3, CUDA_C_32F = 4, CUDA_C_64F = 5,
  CUDA_C_16F = 6, CUDA_C_8I = 7, CUDA_R_8U = 8, CUDA_C_8U = 9, CUDA_R_32I = 10, CUDA_C_32I = 11,
  CUDA_R_32U = 12, CUDA_R_16BF = 14, CUDA_C_16BF = 15, CUDA_R_4I = 16, CUDA_R_16I = 20,
  CUDA_R_64I = 24, CUDA_R_8F_E4M3 = 28, CUDA_R_8F_E5M2 = 29
};
typedef enum cudaDataType_t cudaDataType;
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };

#endif
