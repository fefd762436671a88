// cuRAND's host interface: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CURAND_H
#define TM_CURAND_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
typedef struct curandGenerator_st *curandGenerator_t;
enum curandStatus_t { CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_VERSION_MISMATCH = 100, CURAND_STATUS_NOT_INITIALIZED, CURAND_STATUS_ALLOCATION_FAILED, CURAND_STATUS_TYPE_ERROR, CURAND_STATUS_OUT_OF_RANGE, CURAND_STATUS_LENGTH_NOT_MULTIPLE, CURAND_STATUS_LAUNCH_FAILURE = 201, CURAND_STATUS_INTERNAL_ERROR = 999 };
typedef curandStatus_t curandStatus;
enum curandRngType_t { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101, CURAND_RNG_PSEUDO_MRG32K3A = 121, CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937 = 142, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32 = 201 };
enum curandOrdering_t { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101 };
TM_ANY(curandStatus_t, curandCreateGenerator)
TM_ANY(curandStatus_t, curandCreateGeneratorHost)
TM_ANY(curandStatus_t, curandDestroyGenerator)
TM_ANY(curandStatus_t, curandSetStream)
TM_ANY(curandStatus_t, curandSetPseudoRandomGeneratorSeed)
TM_ANY(curandStatus_t, curandSetGeneratorOffset)
TM_ANY(curandStatus_t, curandSetGeneratorOrdering)
TM_ANY(curandStatus_t, curandSetQuasiRandomGeneratorDimensions)
TM_ANY(curandStatus_t, curandGenerate)
TM_ANY(curandStatus_t, curandGenerateLongLong)
TM_ANY(curandStatus_t, curandGenerateUniform)
TM_ANY(curandStatus_t, curandGenerateUniformDouble)
TM_ANY(curandStatus_t, curandGenerateNormal)
TM_ANY(curandStatus_t, curandGenerateNormalDouble)
TM_ANY(curandStatus_t, curandGenerateLogNormal)
TM_ANY(curandStatus_t, curandGenerateLogNormalDouble)
TM_ANY(curandStatus_t, curandGeneratePoisson)
TM_ANY(curandStatus_t, curandGenerateSeeds)
TM_ANY(curandStatus_t, curandGetVersion)
#endif
