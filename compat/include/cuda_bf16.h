// bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions, on the same terms as cuda_fp16.h.
#ifndef TM_CUDA_BF16_H
#define TM_CUDA_BF16_H
#include "cuda_fp16.h"

#ifndef TM_CLANG_CUDA
// Rounds to nearest even from double in one step.
static inline unsigned short tm_bfloat_bits(double value) {
  if (value != value) return 0x7fffu;
  float nearest = (float)value;
  unsigned bits = __float_as_uint(nearest);
  double error = value - (double)nearest;
  if (error != 0.0 && nearest - nearest == 0.0f) {
    // Make float's own rounding sticky.
    if (!(bits & 1u)) bits = ((error > 0.0) == (value > 0.0)) ? bits | 1u : bits - 1u;
  }
  return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline float tm_bfloat_value(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
#endif

struct __nv_bfloat16_raw { unsigned short x; };
TM_NARROW(__nv_bfloat16, __nv_bfloat16_raw, tm_bfloat_bits, tm_bfloat_value)
TM_NARROW2(__nv_bfloat162, __nv_bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

TM_FN __nv_bfloat16 __float2bfloat16(float v) TM_IS(return __nv_bfloat16(v);)
TM_FN __nv_bfloat16 __float2bfloat16_rn(float v) TM_IS(return __nv_bfloat16(v);)
TM_FN __nv_bfloat16 __double2bfloat16(double v) TM_IS(return __nv_bfloat16(v);)
TM_FN float __bfloat162float(__nv_bfloat16 v) TM_IS(return (float)v;)
TM_FN __nv_bfloat16 __int2bfloat16_rn(int v) TM_IS(return __nv_bfloat16(v);)
TM_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) TM_IS(return v.__x;)
TM_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short v)
  TM_IS(__nv_bfloat16 h; h.__x = v; return h;)
TM_FN __nv_bfloat162 __float2bfloat162_rn(float v)
  TM_IS(return __nv_bfloat162(__nv_bfloat16(v), __nv_bfloat16(v));)
TM_FN __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
  TM_IS(return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));)
TM_FN float2 __bfloat1622float2(__nv_bfloat162 v) TM_IS(return float2{(float)v.x, (float)v.y};)
TM_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) TM_IS(return __nv_bfloat162(v, v);)
TM_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
  TM_IS(return __nv_bfloat162(a, b);)
TM_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
  TM_IS(return __nv_bfloat162(a, b);)
TM_FN __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) TM_IS(return v.x;)
TM_FN __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) TM_IS(return v.y;)
TM_FN float __low2float(__nv_bfloat162 v) TM_IS(return (float)v.x;)
TM_FN float __high2float(__nv_bfloat162 v) TM_IS(return (float)v.y;)
#endif
