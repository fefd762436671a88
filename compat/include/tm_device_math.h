// CUDA's math functions beyond the C library, type casts and rounding intrinsics.
// The oracle's fast-math intrinsics (__expf, __fdividef, …) are the correctly named C functions:
// CUDA only bounds their error, so the accurate value is a legal result.
#ifndef TM_CUDA_PRELUDE_H
#include "tm_cuda_prelude.h"
#endif
#ifndef TM_DEVICE_MATH_H
#define TM_DEVICE_MATH_H

#ifndef TM_CLANG_CUDA
#define TM_PI 3.14159265358979323846
static inline double tm_sinpi(double x) {
  double r = x - 2.0 * __builtin_nearbyint(x * 0.5);
  if (r == 0.0 || r == 1.0 || r == -1.0) return __builtin_copysign(0.0, x);
  if (r > 0.5) r = 1.0 - r;
  if (r < -0.5) r = -1.0 - r;
  return sin(TM_PI * r);
}
static inline double tm_cospi(double x) {
  double r = __builtin_fabs(x - 2.0 * __builtin_nearbyint(x * 0.5));
  if (r == 0.5) return 0.0;
  return r > 0.5 ? -sin(TM_PI * (r - 0.5)) : cos(TM_PI * r);
}
// Inverse of the normal distribution function by Newton steps on erfc.
static inline double tm_normcdfinv(double p) {
  if (!(p > 0.0 && p < 1.0)) {
    if (p == 0.0) return -__builtin_inf();
    if (p == 1.0) return __builtin_inf();
    return __builtin_nan("");
  }
  double lo = -40.0, hi = 40.0;
  for (int i = 0; i < 200 && lo < hi; ++i) {
    double mid = 0.5 * (lo + hi);
    if (mid == lo || mid == hi) break;
    if (0.5 * erfc(-mid * 0.70710678118654752440) < p) lo = mid; else hi = mid;
  }
  return 0.5 * (lo + hi);
}
static inline double tm_erfcinv(double x) {
  if (x == 0.0) return __builtin_inf();
  if (x == 2.0) return -__builtin_inf();
  return -0.70710678118654752440 * tm_normcdfinv(0.5 * x);
}
static inline double tm_erfinv_(double x) {
  if (x == 0.0) return x;
  return x > 0.0 ? tm_erfcinv(1.0 - x) : -tm_erfcinv(1.0 + x);
}
static inline double tm_bessel_i(double x, int order) {
  double half = 0.5 * x, term = order ? half : 1.0, sum = term;
  for (int k = 1; k < 2000; ++k) {
    term *= half * half / ((double)k * (k + order));
    sum += term;
    if (__builtin_fabs(term) <= 1e-18 * __builtin_fabs(sum)) break;
  }
  return sum;
}
// A conversion that saturates and maps NaN to zero, as the hardware's does; `rounded` is integral.
template <class To>
static inline To tm_saturate(double rounded) {
  const To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  if (rounded != rounded) return sizeof(To) == 8 ? (To)(1ULL << 63) : (To)0;
  if (rounded <= (double)low) return low;
  if (rounded >= (double)high) return high;
  return (To)rounded;
}
#endif

#define TM_MATH1(NAME, EXPR)                                                                      \
  TM_FN double NAME(double x) TM_IS(return EXPR;)                                                   \
  TM_FN float NAME##f(float x) TM_IS(return (float)(EXPR);)
TM_MATH1(rcbrt, 1.0 / cbrt((double)x))
TM_MATH1(sinpi, tm_sinpi(x))
TM_MATH1(cospi, tm_cospi(x))
TM_MATH1(erfinv, tm_erfinv_(x))
TM_MATH1(erfcinv, tm_erfcinv(x))
TM_MATH1(erfcx, exp((double)x * x) * erfc((double)x))
TM_MATH1(normcdf, 0.5 * erfc(-(double)x * 0.70710678118654752440))
TM_MATH1(normcdfinv, tm_normcdfinv(x))
TM_MATH1(cyl_bessel_i0, tm_bessel_i(x, 0))
TM_MATH1(cyl_bessel_i1, tm_bessel_i(x, 1))
TM_FN double rsqrt(double x) TM_IS(return 1.0 / sqrt(x);)
TM_FN float rsqrtf(float x) TM_IS(return 1.0f / sqrtf(x);)
#ifndef __USE_GNU
TM_MATH1(exp10, pow(10.0, (double)x))
#endif
TM_FN void sincospi(double x, double *s, double *c) TM_IS(*s = tm_sinpi(x); *c = tm_cospi(x);)
TM_FN void sincospif(float x, float *s, float *c)
  TM_IS(*s = (float)tm_sinpi(x); *c = (float)tm_cospi(x);)
#ifndef __USE_GNU
TM_FN void sincos(double x, double *s, double *c) TM_IS(*s = sin(x); *c = cos(x);)
TM_FN void sincosf(float x, float *s, float *c) TM_IS(*s = sinf(x); *c = cosf(x);)
#endif
TM_FN double norm3d(double a, double b, double c) TM_IS(return sqrt(a * a + b * b + c * c);)
TM_FN float norm3df(float a, float b, float c)
  TM_IS(return (float)sqrt((double)a * a + (double)b * b + (double)c * c);)
TM_FN double norm4d(double a, double b, double c, double d)
  TM_IS(return sqrt(a * a + b * b + c * c + d * d);)
TM_FN float norm4df(float a, float b, float c, float d)
  TM_IS(return (float)sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);)
TM_FN double rnorm3d(double a, double b, double c) TM_IS(return 1.0 / norm3d(a, b, c);)
TM_FN float rnorm3df(float a, float b, float c) TM_IS(return (float)(1.0 / norm3d(a, b, c));)
TM_FN double rnorm4d(double a, double b, double c, double d) TM_IS(return 1.0 / norm4d(a, b, c, d);)
TM_FN float rnorm4df(float a, float b, float c, float d)
  TM_IS(return (float)(1.0 / norm4d(a, b, c, d));)
TM_FN double rhypot(double a, double b) TM_IS(return 1.0 / hypot(a, b);)
TM_FN float rhypotf(float a, float b) TM_IS(return 1.0f / hypotf(a, b);)
TM_FN double norm(int n, const double *p)
  TM_IS(double s = 0; for (int i = 0; i < n; ++i) s += p[i] * p[i]; return sqrt(s);)
TM_FN float normf(int n, const float *p)
  TM_IS(double s = 0; for (int i = 0; i < n; ++i) s += (double)p[i] * p[i]; return (float)sqrt(s);)
TM_FN float fdividef(float a, float b) TM_IS(return a / b;)
TM_FN float rsqrt(float x) TM_IS(return rsqrtf(x);)
TM_FN float sinpi(float x) TM_IS(return sinpif(x);)
TM_FN float cospi(float x) TM_IS(return cospif(x);)
TM_FN float rcbrt(float x) TM_IS(return rcbrtf(x);)
TM_FN float erfinv(float x) TM_IS(return erfinvf(x);)
TM_FN float erfcinv(float x) TM_IS(return erfcinvf(x);)
TM_FN float erfcx(float x) TM_IS(return erfcxf(x);)
TM_FN float normcdf(float x) TM_IS(return normcdff(x);)
TM_FN float normcdfinv(float x) TM_IS(return normcdfinvf(x);)
#undef TM_MATH1

// The C library has some of these names for itself: g++ sees macros, clang an exact redeclaration.
#ifdef TM_CLANG_CUDA
#define TM_C_FN extern "C" __host__ __device__
TM_C_FN float __expf(float x) noexcept(true);
TM_C_FN float __exp10f(float x) noexcept(true);
TM_C_FN float __logf(float x) noexcept(true);
TM_C_FN float __log2f(float x) noexcept(true);
TM_C_FN float __log10f(float x) noexcept(true);
TM_C_FN float __sinf(float x) noexcept(true);
TM_C_FN float __cosf(float x) noexcept(true);
TM_C_FN float __tanf(float x) noexcept(true);
TM_C_FN float __powf(float x, float y) noexcept(true);
TM_C_FN void __sincosf(float x, float *s, float *c) noexcept(true);
#undef TM_C_FN
#else
#define __expf(x) expf(x)
#define __exp10f(x) ((float)pow(10.0, (double)(x)))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf(x, y)
#define __sincosf(x, s, c) sincosf(x, s, c)
#endif
TM_FN float __fdividef(float a, float b) TM_IS(return a / b;)
TM_FN float __saturatef(float x) TM_IS(return x >= 0.0f ? (x <= 1.0f ? x : 1.0f) : 0.0f;)
TM_FN float __frsqrt_rn(float x) TM_IS(return (float)(1.0 / sqrt((double)x));)
TM_FN float __fsqrt_rn(float x) TM_IS(return sqrtf(x);)
TM_FN float __frcp_rn(float x) TM_IS(return 1.0f / x;)
TM_FN double __dsqrt_rn(double x) TM_IS(return sqrt(x);)
TM_FN double __drcp_rn(double x) TM_IS(return 1.0 / x;)
TM_FN float __fadd_rn(float a, float b) TM_IS(return a + b;)
TM_FN float __fsub_rn(float a, float b) TM_IS(return a - b;)
TM_FN float __fmul_rn(float a, float b) TM_IS(return a * b;)
TM_FN float __fdiv_rn(float a, float b) TM_IS(return a / b;)
TM_FN float __fmaf_rn(float a, float b, float c) TM_IS(return __builtin_fmaf(a, b, c);)
TM_FN double __dadd_rn(double a, double b) TM_IS(return a + b;)
TM_FN double __dsub_rn(double a, double b) TM_IS(return a - b;)
TM_FN double __dmul_rn(double a, double b) TM_IS(return a * b;)
TM_FN double __ddiv_rn(double a, double b) TM_IS(return a / b;)
TM_FN double __fma_rn(double a, double b, double c) TM_IS(return __builtin_fma(a, b, c);)
// Directed rounding is declared so that it is recognised; nothing here computes it.
#ifdef TM_CLANG_CUDA
#define TM_DIRECTED(S)                                                                            \
  TM_FN float __fadd_##S(float a, float b);                                                         \
  TM_FN float __fsub_##S(float a, float b);                                                         \
  TM_FN float __fmul_##S(float a, float b);                                                         \
  TM_FN float __fdiv_##S(float a, float b);                                                         \
  TM_FN float __fmaf_##S(float a, float b, float c);                                                \
  TM_FN float __fsqrt_##S(float a);                                                                 \
  TM_FN float __frcp_##S(float a);                                                                  \
  TM_FN double __dadd_##S(double a, double b);                                                      \
  TM_FN double __dsub_##S(double a, double b);                                                      \
  TM_FN double __dmul_##S(double a, double b);                                                      \
  TM_FN double __ddiv_##S(double a, double b);                                                      \
  TM_FN double __fma_##S(double a, double b, double c);                                             \
  TM_FN double __dsqrt_##S(double a);                                                               \
  TM_FN double __drcp_##S(double a);                                                                \
  TM_FN float __double2float_##S(double a);                                                         \
  TM_FN float __int2float_##S(int a);                                                               \
  TM_FN float __uint2float_##S(unsigned a);                                                         \
  TM_FN float __ll2float_##S(long long a);                                                          \
  TM_FN float __ull2float_##S(unsigned long long a);                                                \
  TM_FN double __ll2double_##S(long long a);                                                        \
  TM_FN double __ull2double_##S(unsigned long long a);
TM_DIRECTED(rz)
TM_DIRECTED(ru)
TM_DIRECTED(rd)
#undef TM_DIRECTED
#endif

TM_FN int __float_as_int(float x) TM_IS(int r; __builtin_memcpy(&r, &x, 4); return r;)
TM_FN unsigned __float_as_uint(float x) TM_IS(unsigned r; __builtin_memcpy(&r, &x, 4); return r;)
TM_FN float __int_as_float(int x) TM_IS(float r; __builtin_memcpy(&r, &x, 4); return r;)
TM_FN float __uint_as_float(unsigned x) TM_IS(float r; __builtin_memcpy(&r, &x, 4); return r;)
TM_FN long long __double_as_longlong(double x)
  TM_IS(long long r; __builtin_memcpy(&r, &x, 8); return r;)
TM_FN double __longlong_as_double(long long x)
  TM_IS(double r; __builtin_memcpy(&r, &x, 8); return r;)
TM_FN int __double2hiint(double x) TM_IS(return (int)(__double_as_longlong(x) >> 32);)
TM_FN int __double2loint(double x) TM_IS(return (int)__double_as_longlong(x);)
TM_FN double __hiloint2double(int hi, int lo)
  TM_IS(return __longlong_as_double(((long long)hi << 32) | (unsigned)lo);)

#define TM_ROUND_RN(x) __builtin_nearbyint((double)(x))
#define TM_ROUND_RZ(x) __builtin_trunc((double)(x))
#define TM_ROUND_RU(x) __builtin_ceil((double)(x))
#define TM_ROUND_RD(x) __builtin_floor((double)(x))
#define TM_TO_INTEGER(S, R)                                                                       \
  TM_FN int __float2int_##S(float x) TM_IS(return tm_saturate<int>(R(x));)                          \
  TM_FN unsigned __float2uint_##S(float x) TM_IS(return tm_saturate<unsigned>(R(x));)               \
  TM_FN long long __float2ll_##S(float x) TM_IS(return tm_saturate<long long>(R(x));)               \
  TM_FN unsigned long long __float2ull_##S(float x)                                                 \
      TM_IS(return tm_saturate<unsigned long long>(R(x));)                                          \
  TM_FN int __double2int_##S(double x) TM_IS(return tm_saturate<int>(R(x));)                        \
  TM_FN unsigned __double2uint_##S(double x) TM_IS(return tm_saturate<unsigned>(R(x));)             \
  TM_FN long long __double2ll_##S(double x) TM_IS(return tm_saturate<long long>(R(x));)             \
  TM_FN unsigned long long __double2ull_##S(double x)                                               \
      TM_IS(return tm_saturate<unsigned long long>(R(x));)
TM_TO_INTEGER(rn, TM_ROUND_RN)
TM_TO_INTEGER(rz, TM_ROUND_RZ)
TM_TO_INTEGER(ru, TM_ROUND_RU)
TM_TO_INTEGER(rd, TM_ROUND_RD)
#undef TM_TO_INTEGER
TM_FN float __double2float_rn(double x) TM_IS(return (float)x;)
TM_FN float __int2float_rn(int x) TM_IS(return (float)x;)
TM_FN float __uint2float_rn(unsigned x) TM_IS(return (float)x;)
TM_FN float __ll2float_rn(long long x) TM_IS(return (float)x;)
TM_FN float __ull2float_rn(unsigned long long x) TM_IS(return (float)x;)
TM_FN double __int2double_rn(int x) TM_IS(return (double)x;)
TM_FN double __uint2double_rn(unsigned x) TM_IS(return (double)x;)
TM_FN double __ll2double_rn(long long x) TM_IS(return (double)x;)
TM_FN double __ull2double_rn(unsigned long long x) TM_IS(return (double)x;)
#undef TM_PI

#endif
