// 8-bit floats, declared so that their uses are found. Nothing executes them.
#ifndef TM_CUDA_FP8_H
#define TM_CUDA_FP8_H
#include "cuda_bf16.h"
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
struct __nv_fp8_e4m3 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e4m3() = default;
  __host__ __device__ explicit __nv_fp8_e4m3(float);
  __host__ __device__ explicit __nv_fp8_e4m3(__half);
  __host__ __device__ explicit operator float() const;
  __host__ __device__ explicit operator __half() const;
};
struct __nv_fp8_e5m2 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e5m2() = default;
  __host__ __device__ explicit __nv_fp8_e5m2(float);
  __host__ __device__ explicit operator float() const;
};
struct __nv_fp8x2_e4m3 { __nv_fp8x2_storage_t __x; };
struct __nv_fp8x4_e4m3 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e4m3() = default;
  __host__ __device__ explicit __nv_fp8x4_e4m3(float4);
  __host__ __device__ explicit operator float4() const;
};
TM_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t s, __nv_fp8_interpretation_t i) TM_IS(tm_refuse(__func__);)
TM_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t i) TM_IS(tm_refuse(__func__);)
#endif
