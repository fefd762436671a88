// the legacy cuBLAS interface: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CUBLAS_H
#define TM_CUBLAS_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
#include "cublas_v2.h"
TM_ANY(cublasStatus_t, cublasInit)
TM_ANY(cublasStatus_t, cublasShutdown)
TM_ANY(cublasStatus_t, cublasGetError)
TM_ANY(cublasStatus_t, cublasAlloc)
TM_ANY(cublasStatus_t, cublasFree)
TM_ANY(cublasStatus_t, cublasSetKernelStream)
#endif
