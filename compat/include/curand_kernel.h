// cuRAND's device interface: host calls are declared so that they are found and typed by name, not checked: each takes any
// arguments. Nothing here executes.
#ifndef TM_CURAND_KERNEL_H
#define TM_CURAND_KERNEL_H
#include "tm_cuda_prelude.h"
#include "tm_library_call.h"
#include "curand.h"
// Device generators: their sequences are not reproduced here, so a kernel that calls one traps.
struct curandStateXORWOW { unsigned d, v[7]; };
typedef curandStateXORWOW curandStateXORWOW_t;
struct curandStateMRG32k3a { unsigned d, v[7]; };
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
struct curandStatePhilox4_32_10 { unsigned d, v[7]; };
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
TM_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN void skipahead(unsigned long long n, curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN unsigned curand(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_uniform(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_normal(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN double curand_uniform_double(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN double curand_normal_double(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN float2 curand_normal2(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN double2 curand_normal2_double(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN uint4 curand4(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN float4 curand_uniform4(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN float4 curand_normal4(curandStateXORWOW *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_log_normal(curandStateXORWOW *state, float mean, float deviation) TM_IS(tm_refuse(__func__);)
TM_FN unsigned curand_poisson(curandStateXORWOW *state, double rate) TM_IS(tm_refuse(__func__);)
TM_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN void skipahead(unsigned long long n, curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN unsigned curand(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_uniform(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_normal(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN double curand_uniform_double(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN double curand_normal_double(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN float2 curand_normal2(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN double2 curand_normal2_double(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN uint4 curand4(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN float4 curand_uniform4(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN float4 curand_normal4(curandStateMRG32k3a *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_log_normal(curandStateMRG32k3a *state, float mean, float deviation) TM_IS(tm_refuse(__func__);)
TM_FN unsigned curand_poisson(curandStateMRG32k3a *state, double rate) TM_IS(tm_refuse(__func__);)
TM_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN unsigned curand(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_uniform(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_normal(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN double curand_uniform_double(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN double curand_normal_double(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN float2 curand_normal2(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN double2 curand_normal2_double(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN uint4 curand4(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN float4 curand_uniform4(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN float4 curand_normal4(curandStatePhilox4_32_10 *state) TM_IS(tm_refuse(__func__);)
TM_FN float curand_log_normal(curandStatePhilox4_32_10 *state, float mean, float deviation) TM_IS(tm_refuse(__func__);)
TM_FN unsigned curand_poisson(curandStatePhilox4_32_10 *state, double rate) TM_IS(tm_refuse(__func__);)
#endif
