// cuFFT: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CUFFT_H
#define TM_CUFFT_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
#include "cuComplex.h"
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
enum cufftResult { CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR, CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA };
typedef cufftResult cufftResult_t;
enum cufftType { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 };
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
TM_ANY(cufftResult, cufftPlan1d)
TM_ANY(cufftResult, cufftPlan2d)
TM_ANY(cufftResult, cufftPlan3d)
TM_ANY(cufftResult, cufftPlanMany)
TM_ANY(cufftResult, cufftCreate)
TM_ANY(cufftResult, cufftDestroy)
TM_ANY(cufftResult, cufftMakePlan1d)
TM_ANY(cufftResult, cufftMakePlan2d)
TM_ANY(cufftResult, cufftMakePlan3d)
TM_ANY(cufftResult, cufftMakePlanMany)
TM_ANY(cufftResult, cufftExecC2C)
TM_ANY(cufftResult, cufftExecR2C)
TM_ANY(cufftResult, cufftExecC2R)
TM_ANY(cufftResult, cufftExecZ2Z)
TM_ANY(cufftResult, cufftExecD2Z)
TM_ANY(cufftResult, cufftExecZ2D)
TM_ANY(cufftResult, cufftSetStream)
TM_ANY(cufftResult, cufftGetSize)
TM_ANY(cufftResult, cufftSetWorkArea)
TM_ANY(cufftResult, cufftSetAutoAllocation)
TM_ANY(cufftResult, cufftEstimateMany)
TM_ANY(cufftResult, cufftGetVersion)
#endif
