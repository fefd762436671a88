// The runtime API in C++: typed pointers, kernels and symbols by name, and what CUDA 13 no longer has.
#ifndef TM_RUNTIME_TEMPLATES_H
#define TM_RUNTIME_TEMPLATES_H
#include "tm_runtime_functions.h"
#include "tm_runtime_refused.h"
#if !defined(TM_CUDA_PRELUDE_H)
#include <type_traits>
#endif

// libclang reads faster without what bodies do.
#ifdef TM_CLANG_CUDA
// Any body: a template of a type without linkage has to be defined where it is used.
#define TM_BODY(...) { return {}; }
#define TM_INLINE __host__
#else
#define TM_BODY(...) { __VA_ARGS__ }
#define TM_INLINE inline
extern "C" void tm_note_symbol(const void *address, size_t bytes);
// Host and device code share the variable: the runtime learns of it here.
template <class T>
inline const void *tm_symbol(const T &symbol) {
  const void *address = __builtin_addressof(symbol);
  tm_note_symbol(address, sizeof symbol);
  return address;
}
#endif

static inline __host__ cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return cudaExtent{w, h, d}; }
static inline __host__ cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return cudaPos{x, y, z}; }
static inline __host__ cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) {
  return cudaPitchedPtr{p, pitch, x, y};
}

#ifndef TM_CLANG_CUDA
// Kinds and bits of T's components, by T's own name: float4 → {32, 32, 32, 32, float}.
template <class T, class = void>
struct tm_components {
  typedef decltype(T::x) scalar;
};
template <class T>
struct tm_components<T, typename std::enable_if<std::is_arithmetic<T>::value>::type> {
  typedef T scalar;
};
template <class T>
inline cudaChannelFormatDesc tm_channel_desc() {
  typedef typename tm_components<T>::scalar scalar;
  const int bits = int(sizeof(scalar) * 8), count = int(sizeof(T) / sizeof(scalar));
  return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
                               std::is_floating_point<scalar>::value ? cudaChannelFormatKindFloat
                               : std::is_signed<scalar>::value       ? cudaChannelFormatKindSigned
                                                                     : cudaChannelFormatKindUnsigned);
}
#endif

template <class T> __host__ __device__ cudaError_t cudaMalloc(T **pointer, size_t bytes) TM_BODY(return cudaMalloc((void **)pointer, bytes);)
template <class T> __host__ cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = 0) TM_BODY(return cudaHostAlloc((void **)pointer, bytes, flags);)
template <class T> __host__ cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags) TM_BODY(return cudaHostAlloc((void **)pointer, bytes, flags);)
template <class T> __host__ cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) TM_BODY(return cudaMallocManaged((void **)pointer, bytes, flags);)
template <class T> __host__ cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) TM_BODY(return cudaMallocAsync((void **)pointer, bytes, stream);)
template <class T> __host__ cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) TM_BODY(return cudaMallocPitch((void **)pointer, pitch, width, height);)
template <class T> __host__ cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags) TM_BODY(return cudaHostGetDevicePointer((void **)device, host, flags);)
template <class T> __host__ cudaChannelFormatDesc cudaCreateChannelDesc() TM_BODY(return tm_channel_desc<T>();)
template <class T> __host__ cudaError_t cudaLaunchKernel(T *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0, cudaStream_t stream = 0) TM_BODY(return cudaLaunchKernel((const void *)function, grid, block, arguments, shared_bytes, stream);)
template <class T> __host__ cudaError_t cudaLaunchCooperativeKernel(T *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0, cudaStream_t stream = 0) TM_BODY(return cudaLaunchCooperativeKernel((const void *)function, grid, block, arguments, shared_bytes, stream);)
template <class... P, class... A> __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...arguments) TM_BODY(return [&](P... values) {
    void *pointers[sizeof...(P) + 1] = {(void *)__builtin_addressof(values)..., nullptr};
    return cudaLaunchKernelExC(config, (const void *)kernel, pointers);
  }(static_cast<A &&>(arguments)...);)
template <class T> __host__ cudaError_t cudaFuncSetCacheConfig(T *function, cudaFuncCache config) TM_BODY(return cudaFuncSetCacheConfig((const void *)function, config);)
template <class T> __host__ cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function) TM_BODY(return cudaFuncGetAttributes(attributes, (const void *)function);)
template <class T> __host__ cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value) TM_BODY(return cudaFuncSetAttribute((const void *)function, attribute, value);)
template <class T> __host__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T function, int block_size, size_t shared_bytes) TM_BODY(return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, block_size, shared_bytes);)
template <class T> __host__ cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T function, size_t shared_bytes = 0, int limit = 0) TM_BODY(return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, function, [=](int) { return shared_bytes; }, limit);)
template <class F, class T> __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T function, F shared_bytes, int limit = 0) TM_BODY(cudaFuncAttributes attributes;
  int device = 0, multiprocessors = 0, best = 0;
  cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)function);
  if (error == cudaSuccess) error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  int size = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < size) size = limit;
  for (int next; size > 0; size = next) {
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)function, size, (size_t)shared_bytes(size));
    if (error != cudaSuccess) return error;
    if (blocks * size > best) best = blocks * size, *block = size, *grid = blocks * multiprocessors;
    next = (size - 1) / 32 * 32;
  }
  return cudaSuccess;)
template <class T> __host__ cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) TM_BODY(return cudaGetSymbolAddress(pointer, tm_symbol(symbol));)
template <class T> __host__ cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) TM_BODY(return cudaGetSymbolSize(size, tm_symbol(symbol));)
template <class T> __host__ cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) TM_BODY(return cudaMemcpyToSymbol(tm_symbol(symbol), src, bytes, offset, kind);)
template <class T> __host__ cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) TM_BODY(return cudaMemcpyFromSymbol(dst, tm_symbol(symbol), bytes, offset, kind);)
template <class T> __host__ cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) TM_BODY(return cudaMemcpyToSymbolAsync(tm_symbol(symbol), src, bytes, offset, kind, stream);)
template <class T> __host__ cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) TM_BODY(return cudaMemcpyFromSymbolAsync(dst, tm_symbol(symbol), bytes, offset, kind, stream);)
TM_INLINE cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0) TM_BODY(return cudaGraphInstantiateWithFlags(exec, graph, flags);)
TM_INLINE cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *node, char *log, size_t bytes) TM_BODY((void)node; (void)log; (void)bytes; return cudaGraphInstantiateWithFlags(exec, graph, 0);)
TM_INLINE cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) TM_BODY(return cudaEventCreateWithFlags(event, flags);)

// What CUDA 13 no longer has.
TM_INLINE cudaMemLocation tm_location(int device) TM_BODY(cudaMemLocation at; at.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice; at.id = device < 0 ? 0 : device; return at;)
TM_INLINE cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream = 0) TM_BODY(return cudaMemPrefetchAsync(pointer, bytes, tm_location(device), 0, stream);)
TM_INLINE cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device) TM_BODY(return cudaMemAdvise(pointer, bytes, advice, tm_location(device));)
TM_INLINE cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) TM_BODY(return cudaGraphAddDependencies(graph, from, to, nullptr, count);)
TM_INLINE cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node, cudaGraphExecUpdateResult *result) TM_BODY(cudaGraphExecUpdateResultInfo info; info.result = cudaGraphExecUpdateError; info.errorNode = 0; cudaError_t error = cudaGraphExecUpdate(exec, graph, &info); if (node) *node = info.errorNode; if (result) *result = info.result; return error;)
TM_INLINE cudaError_t cudaThreadSynchronize() TM_BODY(return cudaDeviceSynchronize();)
TM_INLINE cudaError_t cudaThreadExit() TM_BODY(return cudaDeviceReset();)
TM_INLINE cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0) TM_BODY(return (cudaError_t)__cudaPushCallConfiguration(grid, block, shared_bytes, (void *)stream);)

#undef TM_BODY
#undef TM_INLINE

#endif
