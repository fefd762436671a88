// the CUDA driver interface: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CUDA_H
#define TM_CUDA_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
struct CUtensorMap { unsigned long long opaque[16]; };
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_UNKNOWN = 999 };
enum CUdevice_attribute { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76 };
enum CUfunction_attribute { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
TM_ANY(CUresult, cuInit)
TM_ANY(CUresult, cuDriverGetVersion)
TM_ANY(CUresult, cuDeviceGet)
TM_ANY(CUresult, cuDeviceGetCount)
TM_ANY(CUresult, cuDeviceGetName)
TM_ANY(CUresult, cuDeviceGetAttribute)
TM_ANY(CUresult, cuDeviceTotalMem)
TM_ANY(CUresult, cuCtxCreate)
TM_ANY(CUresult, cuCtxDestroy)
TM_ANY(CUresult, cuCtxSynchronize)
TM_ANY(CUresult, cuCtxSetCurrent)
TM_ANY(CUresult, cuCtxGetCurrent)
TM_ANY(CUresult, cuCtxPushCurrent)
TM_ANY(CUresult, cuCtxPopCurrent)
TM_ANY(CUresult, cuDevicePrimaryCtxRetain)
TM_ANY(CUresult, cuDevicePrimaryCtxRelease)
TM_ANY(CUresult, cuModuleLoad)
TM_ANY(CUresult, cuModuleLoadData)
TM_ANY(CUresult, cuModuleLoadDataEx)
TM_ANY(CUresult, cuModuleUnload)
TM_ANY(CUresult, cuModuleGetFunction)
TM_ANY(CUresult, cuModuleGetGlobal)
TM_ANY(CUresult, cuMemAlloc)
TM_ANY(CUresult, cuMemFree)
TM_ANY(CUresult, cuMemAllocHost)
TM_ANY(CUresult, cuMemFreeHost)
TM_ANY(CUresult, cuMemAllocManaged)
TM_ANY(CUresult, cuMemcpyHtoD)
TM_ANY(CUresult, cuMemcpyDtoH)
TM_ANY(CUresult, cuMemcpyDtoD)
TM_ANY(CUresult, cuMemcpyHtoDAsync)
TM_ANY(CUresult, cuMemcpyDtoHAsync)
TM_ANY(CUresult, cuMemsetD8)
TM_ANY(CUresult, cuMemsetD16)
TM_ANY(CUresult, cuMemsetD32)
TM_ANY(CUresult, cuLaunchKernel)
TM_ANY(CUresult, cuStreamCreate)
TM_ANY(CUresult, cuStreamDestroy)
TM_ANY(CUresult, cuStreamSynchronize)
TM_ANY(CUresult, cuEventCreate)
TM_ANY(CUresult, cuEventDestroy)
TM_ANY(CUresult, cuEventRecord)
TM_ANY(CUresult, cuEventSynchronize)
TM_ANY(CUresult, cuEventElapsedTime)
TM_ANY(CUresult, cuFuncSetAttribute)
TM_ANY(CUresult, cuFuncGetAttribute)
TM_ANY(CUresult, cuGetErrorString)
TM_ANY(CUresult, cuGetErrorName)
TM_ANY(CUresult, cuMemGetInfo)
TM_ANY(CUresult, cuGetProcAddress)
TM_ANY(CUresult, cuTensorMapEncodeTiled)
TM_ANY(CUresult, cuMemCreate)
TM_ANY(CUresult, cuMemMap)
TM_ANY(CUresult, cuMemUnmap)
TM_ANY(CUresult, cuMemRelease)
TM_ANY(CUresult, cuMemAddressReserve)
TM_ANY(CUresult, cuMemAddressFree)
TM_ANY(CUresult, cuMemSetAccess)
TM_ANY(CUresult, cuMemGetAllocationGranularity)
#endif
