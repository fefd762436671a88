// The CUDA runtime API's C functions, in the signatures of CUDA 13. One text for programs and for the
// runtime's own sources.
#ifndef TM_RUNTIME_FUNCTIONS_H
#define TM_RUNTIME_FUNCTIONS_H
#include "tm_runtime_types.h"

#ifdef __cplusplus
#define TM_API extern "C" __host__
// Functions that CUDA also offers to device code.
#define TM_API_HD extern "C" __host__ __device__
// A parameter's default, which C has none of.
#define TM_OR(...) = __VA_ARGS__
#else
#define TM_API extern
#define TM_API_HD extern
#define TM_OR(...)
#endif

// Programs of our headers get the members that CUDA 13 dropped, too.
#ifdef TM_RUNTIME_SOURCES
#define TM_SYMBOL(name)
#else
#define TM_SYMBOL(name) __asm__(name)
#endif

TM_API_HD cudaError_t cudaMalloc(void **pointer, size_t bytes);
TM_API_HD cudaError_t cudaFree(void *pointer);
TM_API cudaError_t cudaMallocHost(void **pointer, size_t bytes);
TM_API cudaError_t cudaFreeHost(void *pointer);
TM_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
TM_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
TM_API cudaError_t cudaHostUnregister(void *pointer);
TM_API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
TM_API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
TM_API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
TM_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
TM_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
TM_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent);
TM_API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height TM_OR(0), unsigned flags TM_OR(0));
TM_API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned flags TM_OR(0));
TM_API cudaError_t cudaFreeArray(cudaArray_t array);
TM_API cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind);
TM_API_HD cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes);
TM_API cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters);
TM_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
TM_API_HD cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);
TM_API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent);
TM_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
TM_API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation location);
TM_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer);
TM_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer);
TM_API cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags);
TM_API cudaError_t cudaIpcCloseMemHandle(void *pointer);
TM_API cudaError_t cudaSetDevice(int device);
TM_API cudaError_t cudaSetDeviceFlags(unsigned flags);
TM_API_HD cudaError_t cudaGetDevice(int *device);
TM_API_HD cudaError_t cudaGetDeviceCount(int *count);
TM_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) TM_SYMBOL("tm_device_properties");
TM_API_HD cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
TM_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties);
TM_API_HD cudaError_t cudaDeviceSynchronize(void);
TM_API cudaError_t cudaDeviceReset(void);
TM_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
TM_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
TM_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
TM_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
TM_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
TM_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
TM_API cudaError_t cudaDeviceDisablePeerAccess(int peer);
TM_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
TM_API cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device);
TM_API cudaError_t cudaDriverGetVersion(int *version);
TM_API cudaError_t cudaRuntimeGetVersion(int *version);
TM_API_HD cudaError_t cudaGetLastError(void);
TM_API_HD cudaError_t cudaPeekAtLastError(void);
TM_API_HD const char *cudaGetErrorString(cudaError_t error);
TM_API_HD const char *cudaGetErrorName(cudaError_t error);
TM_API cudaError_t cudaProfilerStart(void);
TM_API cudaError_t cudaProfilerStop(void);
TM_API cudaError_t cudaStreamCreate(cudaStream_t *stream);
TM_API_HD cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
TM_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
TM_API_HD cudaError_t cudaStreamDestroy(cudaStream_t stream);
TM_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
TM_API cudaError_t cudaStreamQuery(cudaStream_t stream);
TM_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags TM_OR(0));
TM_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags);
TM_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes TM_OR(0), unsigned flags TM_OR(cudaMemAttachSingle));
TM_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
TM_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
TM_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
TM_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
TM_API cudaError_t cudaEventCreate(cudaEvent_t *event);
TM_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
TM_API cudaError_t cudaEventDestroy(cudaEvent_t event);
TM_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
TM_API cudaError_t cudaEventQuery(cudaEvent_t event);
TM_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);
TM_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
TM_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
TM_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
TM_API cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream);
TM_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
TM_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags TM_OR(0));
TM_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result);
TM_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
TM_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count, const struct cudaKernelNodeParams *parameters);
TM_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count, const struct cudaMemcpy3DParms *parameters);
TM_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count, const struct cudaMemsetParams *parameters);
TM_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count, const struct cudaHostNodeParams *parameters);
TM_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count);
TM_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
TM_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource, const struct cudaTextureDesc *texture, const struct cudaResourceViewDesc *view);
TM_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
TM_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource);
TM_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
TM_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind);
TM_API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes TM_OR(0), cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes TM_OR(0), cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments);
TM_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes TM_OR(0), void *stream TM_OR(0));
TM_API cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config);
TM_API cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config);
TM_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function);
TM_API cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value);
TM_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size, size_t shared_bytes);
TM_API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
TM_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
TM_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset TM_OR(0), enum cudaMemcpyKind kind TM_OR(cudaMemcpyHostToDevice));
TM_API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset TM_OR(0), enum cudaMemcpyKind kind TM_OR(cudaMemcpyDeviceToHost));
TM_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags, cudaArray_t handle);
TM_API cudaError_t cudaCtxResetPersistingL2Cache(void);
TM_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text);
TM_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
TM_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
TM_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
TM_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer);
TM_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
TM_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
TM_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream TM_OR(0), unsigned flags TM_OR(0));
TM_API cudaError_t cudaFuncGetName(const char **name, const void *function);
TM_API cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes);
TM_API cudaError_t cudaGetDeviceFlags(unsigned *flags);
TM_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *result, const void *function);
TM_API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function);
TM_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaGraph_t child);
TM_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count);
TM_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, cudaEvent_t event);
TM_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *parameters);
TM_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters);
TM_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *parameters);
TM_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
TM_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters);
TM_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
TM_API cudaError_t cudaHostGetFlags(unsigned *flags, void *host);
TM_API cudaError_t cudaInitDevice(int device, unsigned flags, unsigned valid);
TM_API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
TM_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties);
TM_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
TM_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *location);
TM_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value);
TM_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access, size_t count);
TM_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value);
TM_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
TM_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind TM_OR(cudaMemcpyDeviceToDevice));
TM_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *parameters);
TM_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *parameters, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind);
TM_API cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream TM_OR(0));
TM_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int threads);
TM_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads, size_t shared_bytes, unsigned flags);
TM_API cudaError_t cudaSetValidDevices(int *devices, int count);
TM_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
TM_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, enum cudaLaunchAttributeID id, union cudaLaunchAttributeValue *value);
TM_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
TM_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
TM_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
TM_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
TM_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, enum cudaLaunchAttributeID id, const union cudaLaunchAttributeValue *value);
TM_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);

#endif
