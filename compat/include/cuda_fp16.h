// Half precision: __half, __half2 and their functions. Arithmetic is done in float and rounded once,
// which is exact for + - * / and sqrt; fused multiply-add rounds once too.
#ifndef TM_CUDA_FP16_H
#define TM_CUDA_FP16_H
#include "tm_cuda_prelude.h"

#ifndef TM_CLANG_CUDA
static inline unsigned short tm_half_bits(double value) {
  unsigned short sign = __builtin_signbit(value) ? 0x8000u : 0u;
  double magnitude = __builtin_fabs(value);
  if (value != value) return 0x7fffu;
  if (magnitude >= 65520.0) return sign | 0x7c00u;
  if (magnitude < 0x1p-14) return sign | (unsigned short)__builtin_nearbyint(magnitude * 0x1p24);
  int exponent;
  double fraction = __builtin_frexp(magnitude, &exponent);
  unsigned mantissa = (unsigned)__builtin_nearbyint(fraction * 2048.0);
  return sign | (unsigned short)(((unsigned)(exponent + 14) << 10) + (mantissa - 1024u));
}
static inline float tm_half_value(unsigned short bits) {
  unsigned exponent = (bits >> 10) & 31u, mantissa = bits & 1023u;
  float magnitude = exponent == 0    ? __builtin_ldexpf((float)mantissa, -24)
                    : exponent == 31 ? (mantissa ? __builtin_nanf("") : __builtin_inff())
                                     : __builtin_ldexpf((float)(mantissa + 1024u), (int)exponent - 25);
  return (bits & 0x8000u) ? -magnitude : magnitude;
}
// a * b + c with the double's own rounding made sticky, so that rounding again is exact.
static inline double tm_sticky_fma(double a, double b, double c) {
  double product = a * b, sum = product + c, back = sum - product;
  double error = (product - (sum - back)) + (c - back);
  if (error != 0.0 && sum - sum == 0.0) {
    long long bits = __double_as_longlong(sum);
    if (!(bits & 1)) bits += ((error > 0.0) == (sum > 0.0)) ? 1 : -1;
    return __longlong_as_double(bits | 1);
  }
  return sum;
}
enum { TM_DOWN, TM_UP, TM_TO_ZERO };
static inline unsigned short tm_half_towards(double value, int direction) {
  unsigned short bits = tm_half_bits(value);
  double rounded = tm_half_value(bits);
  bool negative = bits & 0x8000u;
  if (direction == TM_TO_ZERO) direction = negative ? TM_UP : TM_DOWN;
  if (direction == TM_DOWN && rounded > value) return negative ? bits + 1 : bits - 1;
  if (direction == TM_UP && rounded < value) return negative ? bits - 1 : bits + 1;
  return bits;
}
// What a conversion to a narrower integer gives: clamped, 0 for NaN.
static inline double tm_clamped(double value, double low, double high) {
  return value != value ? 0.0 : value < low ? low : value > high ? high : value;
}
#endif

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

#define TM_NARROW(TYPE, RAW, TO_BITS, TO_VALUE)                                                    \
  struct __attribute__((aligned(2))) TYPE {                                                        \
    unsigned short __x;                                                                            \
    TYPE() = default;                                                                              \
    __host__ __device__ TYPE(RAW raw) TM_INIT(__x(raw.x));                                         \
    __host__ __device__ TYPE(float v) TM_INIT(__x(TO_BITS(v)));                                    \
    __host__ __device__ TYPE(double v) TM_INIT(__x(TO_BITS(v)));                                   \
    __host__ __device__ TYPE(short v) TM_INIT(__x(TO_BITS(v)));                                    \
    __host__ __device__ TYPE(unsigned short v) TM_INIT(__x(TO_BITS(v)));                           \
    __host__ __device__ TYPE(int v) TM_INIT(__x(TO_BITS(v)));                                      \
    __host__ __device__ TYPE(unsigned v) TM_INIT(__x(TO_BITS(v)));                                 \
    __host__ __device__ TYPE(long v) TM_INIT(__x(TO_BITS((double)v)));                             \
    __host__ __device__ TYPE(unsigned long v) TM_INIT(__x(TO_BITS((double)v)));                    \
    __host__ __device__ TYPE(long long v) TM_INIT(__x(TO_BITS((double)v)));                        \
    __host__ __device__ TYPE(unsigned long long v) TM_INIT(__x(TO_BITS((double)v)));               \
    __host__ __device__ operator float() const TM_IS(return TO_VALUE(__x);)                        \
    explicit __host__ __device__ operator double() const TM_IS(return TO_VALUE(__x);)              \
    explicit __host__ __device__ operator int() const TM_IS(return (int)TO_VALUE(__x);)            \
    explicit __host__ __device__ operator unsigned() const TM_IS(return (unsigned)TO_VALUE(__x);)  \
    explicit __host__ __device__ operator short() const TM_IS(return (short)TO_VALUE(__x);)        \
    explicit __host__ __device__ operator long long() const TM_IS(return (long long)TO_VALUE(__x);) \
    explicit __host__ __device__ operator bool() const TM_IS(return (__x & 0x7fffu) != 0;)         \
    operator RAW() const TM_IS(RAW r; r.x = __x; return r;)                                        \
  };                                                                                               \
  TM_FN TYPE operator+(TYPE a, TYPE b) TM_IS(return TYPE((float)a + (float)b);)                    \
  TM_FN TYPE operator-(TYPE a, TYPE b) TM_IS(return TYPE((float)a - (float)b);)                    \
  TM_FN TYPE operator*(TYPE a, TYPE b) TM_IS(return TYPE((float)a * (float)b);)                    \
  TM_FN TYPE operator/(TYPE a, TYPE b) TM_IS(return TYPE((float)a / (float)b);)                    \
  TM_FN TYPE operator-(TYPE a) TM_IS(a.__x ^= 0x8000u; return a;)                                  \
  TM_FN TYPE operator+(TYPE a) TM_IS(return a;)                                                    \
  TM_FN TYPE &operator+=(TYPE &a, TYPE b) TM_IS(return a = a + b;)                                 \
  TM_FN TYPE &operator-=(TYPE &a, TYPE b) TM_IS(return a = a - b;)                                 \
  TM_FN TYPE &operator*=(TYPE &a, TYPE b) TM_IS(return a = a * b;)                                 \
  TM_FN TYPE &operator/=(TYPE &a, TYPE b) TM_IS(return a = a / b;)                                 \
  TM_FN TYPE &operator++(TYPE &a) TM_IS(return a = a + TYPE(1.0f);)                                \
  TM_FN TYPE &operator--(TYPE &a) TM_IS(return a = a - TYPE(1.0f);)                                \
  TM_FN bool operator==(TYPE a, TYPE b) TM_IS(return (float)a == (float)b;)                        \
  TM_FN bool operator!=(TYPE a, TYPE b) TM_IS(return (float)a != (float)b;)                        \
  TM_FN bool operator<(TYPE a, TYPE b) TM_IS(return (float)a < (float)b;)                          \
  TM_FN bool operator>(TYPE a, TYPE b) TM_IS(return (float)a > (float)b;)                          \
  TM_FN bool operator<=(TYPE a, TYPE b) TM_IS(return (float)a <= (float)b;)                        \
  TM_FN bool operator>=(TYPE a, TYPE b) TM_IS(return (float)a >= (float)b;)                        \
  TM_FN TYPE __hadd(TYPE a, TYPE b) TM_IS(return a + b;)                                           \
  TM_FN TYPE __hsub(TYPE a, TYPE b) TM_IS(return a - b;)                                           \
  TM_FN TYPE __hmul(TYPE a, TYPE b) TM_IS(return a * b;)                                           \
  TM_FN TYPE __hdiv(TYPE a, TYPE b) TM_IS(return a / b;)                                           \
  TM_FN TYPE __hadd_rn(TYPE a, TYPE b) TM_IS(return a + b;)                                        \
  TM_FN TYPE __hsub_rn(TYPE a, TYPE b) TM_IS(return a - b;)                                        \
  TM_FN TYPE __hmul_rn(TYPE a, TYPE b) TM_IS(return a * b;)                                        \
  TM_FN TYPE __hneg(TYPE a) TM_IS(return -a;)                                                      \
  TM_FN TYPE __habs(TYPE a) TM_IS(a.__x &= 0x7fffu; return a;)                                     \
  TM_FN TYPE __hfma(TYPE a, TYPE b, TYPE c)                                                        \
      TM_IS(return TYPE(tm_sticky_fma((float)a, (float)b, (float)c));)                             \
  TM_FN TYPE tm_saturate(TYPE a)                                                                   \
      TM_IS(return (float)a > 0.0f ? (float)a < 1.0f ? a : TYPE(1.0f) : TYPE(0.0f);)               \
  TM_FN TYPE __hadd_sat(TYPE a, TYPE b) TM_IS(return tm_saturate(a + b);)                          \
  TM_FN TYPE __hsub_sat(TYPE a, TYPE b) TM_IS(return tm_saturate(a - b);)                          \
  TM_FN TYPE __hmul_sat(TYPE a, TYPE b) TM_IS(return tm_saturate(a * b);)                          \
  TM_FN TYPE __hfma_sat(TYPE a, TYPE b, TYPE c) TM_IS(return tm_saturate(__hfma(a, b, c));)        \
  TM_FN TYPE __hfma_relu(TYPE a, TYPE b, TYPE c)                                                   \
      TM_IS(TYPE r = __hfma(a, b, c); return (float)r <= 0.0f ? TYPE(0.0f) : r;)                   \
  TM_FN bool __heq(TYPE a, TYPE b) TM_IS(return a == b;)                                           \
  TM_FN bool __hne(TYPE a, TYPE b) TM_IS(return a != b;)                                           \
  TM_FN bool __hlt(TYPE a, TYPE b) TM_IS(return a < b;)                                            \
  TM_FN bool __hgt(TYPE a, TYPE b) TM_IS(return a > b;)                                            \
  TM_FN bool __hle(TYPE a, TYPE b) TM_IS(return a <= b;)                                           \
  TM_FN bool __hge(TYPE a, TYPE b) TM_IS(return a >= b;)                                           \
  TM_FN bool __hisnan(TYPE a) TM_IS(return a != a;)                                                \
  TM_FN int __hisinf(TYPE a) TM_IS(return __builtin_isinf_sign((float)a);)                         \
  TM_FN TYPE __hmax(TYPE a, TYPE b) TM_IS(return TYPE(fmaxf((float)a, (float)b));)                 \
  TM_FN TYPE __hmin(TYPE a, TYPE b) TM_IS(return TYPE(fminf((float)a, (float)b));)                 \
  TM_FN TYPE hsqrt(TYPE a) TM_IS(return TYPE(sqrtf((float)a));)                                    \
  TM_FN TYPE hrsqrt(TYPE a) TM_IS(return TYPE(1.0 / sqrt((double)(float)a));)                      \
  TM_FN TYPE hrcp(TYPE a) TM_IS(return TYPE(1.0f / (float)a);)                                     \
  TM_FN TYPE hexp(TYPE a) TM_IS(return TYPE(expf((float)a));)                                      \
  TM_FN TYPE hexp2(TYPE a) TM_IS(return TYPE(exp2f((float)a));)                                    \
  TM_FN TYPE hexp10(TYPE a) TM_IS(return TYPE(pow(10.0, (double)(float)a));)                       \
  TM_FN TYPE hlog(TYPE a) TM_IS(return TYPE(logf((float)a));)                                      \
  TM_FN TYPE hlog2(TYPE a) TM_IS(return TYPE(log2f((float)a));)                                    \
  TM_FN TYPE hlog10(TYPE a) TM_IS(return TYPE(log10f((float)a));)                                  \
  TM_FN TYPE hsin(TYPE a) TM_IS(return TYPE(sinf((float)a));)                                      \
  TM_FN TYPE hcos(TYPE a) TM_IS(return TYPE(cosf((float)a));)                                      \
  TM_FN TYPE htanh(TYPE a) TM_IS(return TYPE(tanhf((float)a));)                                    \
  TM_FN TYPE hfloor(TYPE a) TM_IS(return TYPE(floorf((float)a));)                                  \
  TM_FN TYPE hceil(TYPE a) TM_IS(return TYPE(ceilf((float)a));)                                    \
  TM_FN TYPE hrint(TYPE a) TM_IS(return TYPE(rintf((float)a));)                                    \
  TM_FN TYPE htrunc(TYPE a) TM_IS(return TYPE(truncf((float)a));)                                  \
  TM_SHUFFLES(TYPE)                                                                                \
  TM_CACHE_HINTS(TYPE)                                                                             \
  TM_FN TYPE atomicAdd(TYPE *address, TYPE value)                                                  \
      TM_IS(return tm_atomic_update(address, [value](TYPE old) -> TYPE { return old + value; });)

#define TM_EACH(PAIR, NAME, OF_ONE) TM_FN PAIR NAME(PAIR a) TM_IS(return PAIR(OF_ONE(a.x), OF_ONE(a.y));)
// 1 or 0 of each element, and whether both elements compare.
#define TM_PAIRED(PAIR, TYPE, NAME, OP)                                                            \
  TM_FN PAIR __h##NAME##2(PAIR a, PAIR b)                                                          \
      TM_IS(return PAIR(TYPE(a.x OP b.x ? 1.0f : 0.0f), TYPE(a.y OP b.y ? 1.0f : 0.0f));)          \
  TM_FN bool __hb##NAME##2(PAIR a, PAIR b) TM_IS(return a.x OP b.x && a.y OP b.y;)

#define TM_NARROW2(PAIR, TYPE)                                                                     \
  struct __attribute__((aligned(4))) PAIR {                                                        \
    TYPE x, y;                                                                                     \
    PAIR() = default;                                                                              \
    __host__ __device__ PAIR(TYPE a, TYPE b) TM_INIT(x(a) TM_COMMA y(b));                          \
  };                                                                                               \
  TM_FN PAIR operator+(PAIR a, PAIR b) TM_IS(return PAIR(a.x + b.x, a.y + b.y);)                   \
  TM_FN PAIR operator-(PAIR a, PAIR b) TM_IS(return PAIR(a.x - b.x, a.y - b.y);)                   \
  TM_FN PAIR operator*(PAIR a, PAIR b) TM_IS(return PAIR(a.x * b.x, a.y * b.y);)                   \
  TM_FN PAIR operator/(PAIR a, PAIR b) TM_IS(return PAIR(a.x / b.x, a.y / b.y);)                   \
  TM_FN PAIR &operator+=(PAIR &a, PAIR b) TM_IS(return a = a + b;)                                 \
  TM_FN PAIR &operator*=(PAIR &a, PAIR b) TM_IS(return a = a * b;)                                 \
  TM_FN PAIR __hadd2(PAIR a, PAIR b) TM_IS(return a + b;)                                          \
  TM_FN PAIR __hsub2(PAIR a, PAIR b) TM_IS(return a - b;)                                          \
  TM_FN PAIR __hmul2(PAIR a, PAIR b) TM_IS(return a * b;)                                          \
  TM_FN PAIR __h2div(PAIR a, PAIR b) TM_IS(return a / b;)                                          \
  TM_FN PAIR __hneg2(PAIR a) TM_IS(return PAIR(-a.x, -a.y);)                                       \
  TM_FN PAIR __habs2(PAIR a) TM_IS(return PAIR(__habs(a.x), __habs(a.y));)                         \
  TM_FN PAIR __hfma2(PAIR a, PAIR b, PAIR c)                                                       \
      TM_IS(return PAIR(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));)                            \
  TM_FN PAIR __hmax2(PAIR a, PAIR b) TM_IS(return PAIR(__hmax(a.x, b.x), __hmax(a.y, b.y));)       \
  TM_FN PAIR __hmin2(PAIR a, PAIR b) TM_IS(return PAIR(__hmin(a.x, b.x), __hmin(a.y, b.y));)       \
  TM_PAIRED(PAIR, TYPE, eq, ==)                                                                    \
  TM_PAIRED(PAIR, TYPE, ne, !=)                                                                    \
  TM_PAIRED(PAIR, TYPE, lt, <)                                                                     \
  TM_PAIRED(PAIR, TYPE, le, <=)                                                                    \
  TM_PAIRED(PAIR, TYPE, gt, >)                                                                     \
  TM_PAIRED(PAIR, TYPE, ge, >=)                                                                    \
  TM_EACH(PAIR, __hisnan2, __hisnan) TM_EACH(PAIR, h2rcp, hrcp) TM_EACH(PAIR, h2rsqrt, hrsqrt)     \
  TM_EACH(PAIR, h2log, hlog) TM_EACH(PAIR, h2log2, hlog2) TM_EACH(PAIR, h2log10, hlog10)           \
  TM_EACH(PAIR, h2exp2, hexp2) TM_EACH(PAIR, h2exp10, hexp10) TM_EACH(PAIR, h2sin, hsin)           \
  TM_EACH(PAIR, h2cos, hcos) TM_EACH(PAIR, h2floor, hfloor) TM_EACH(PAIR, h2ceil, hceil)           \
  TM_EACH(PAIR, h2rint, hrint) TM_EACH(PAIR, h2trunc, htrunc)                                      \
  TM_FN PAIR __hadd2_rn(PAIR a, PAIR b) TM_IS(return a + b;)                                       \
  TM_FN PAIR __hsub2_rn(PAIR a, PAIR b) TM_IS(return a - b;)                                       \
  TM_FN PAIR __hmul2_rn(PAIR a, PAIR b) TM_IS(return a * b;)                                       \
  TM_FN PAIR __hadd2_sat(PAIR a, PAIR b)                                                           \
      TM_IS(return PAIR(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));)                              \
  TM_FN PAIR __hmul2_sat(PAIR a, PAIR b)                                                           \
      TM_IS(return PAIR(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));)                              \
  TM_FN PAIR __hfma2_sat(PAIR a, PAIR b, PAIR c)                                                   \
      TM_IS(return PAIR(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));)                    \
  TM_FN PAIR __hfma2_relu(PAIR a, PAIR b, PAIR c)                                                  \
      TM_IS(return PAIR(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));)                  \
  TM_FN PAIR __lows2half2(PAIR a, PAIR b) TM_IS(return PAIR(a.x, b.x);)                            \
  TM_FN PAIR __highs2half2(PAIR a, PAIR b) TM_IS(return PAIR(a.y, b.y);)                           \
  TM_FN PAIR h2exp(PAIR a) TM_IS(return PAIR(hexp(a.x), hexp(a.y));)                               \
  TM_FN PAIR h2sqrt(PAIR a) TM_IS(return PAIR(hsqrt(a.x), hsqrt(a.y));)                            \
  TM_SHUFFLES(PAIR)                                                                                \
  TM_CACHE_HINTS(PAIR)                                                                             \
  TM_FN PAIR atomicAdd(PAIR *address, PAIR value)                                                  \
      TM_IS(return PAIR(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));)

#ifdef TM_CLANG_CUDA
#define TM_INIT(...)
#define TM_COMMA ,
#else
#define TM_COMMA ,
#define TM_INIT(...) : __VA_ARGS__ {}
#endif

TM_NARROW(__half, __half_raw, tm_half_bits, tm_half_value)
TM_NARROW2(__half2, __half)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

TM_FN __half __float2half(float v) TM_IS(return __half(v);)
TM_FN __half __float2half_rn(float v) TM_IS(return __half(v);)
TM_FN __half __double2half(double v) TM_IS(return __half(v);)
TM_FN float __half2float(__half v) TM_IS(return (float)v;)
TM_FN __half __int2half_rn(int v) TM_IS(return __half(v);)
TM_FN __half __uint2half_rn(unsigned v) TM_IS(return __half(v);)
TM_FN __half __ushort_as_half(unsigned short v) TM_IS(__half h; h.__x = v; return h;)
TM_FN __half __float2half_rd(float v) TM_IS(return __ushort_as_half(tm_half_towards(v, TM_DOWN));)
TM_FN __half __float2half_ru(float v) TM_IS(return __ushort_as_half(tm_half_towards(v, TM_UP));)
TM_FN __half __float2half_rz(float v) TM_IS(return __ushort_as_half(tm_half_towards(v, TM_TO_ZERO));)
TM_FN __half __short2half_rn(short v) TM_IS(return __half(v);)
TM_FN __half __ushort2half_rn(unsigned short v) TM_IS(return __half(v);)
TM_FN __half __ll2half_rn(long long v) TM_IS(return __half(v);)
TM_FN __half __ull2half_rn(unsigned long long v) TM_IS(return __half(v);)
TM_FN short __half2short_rn(__half v) TM_IS(return (short)tm_clamped(rintf((float)v), -32768.0, 32767.0);)
TM_FN short __half2short_rz(__half v) TM_IS(return (short)tm_clamped(truncf((float)v), -32768.0, 32767.0);)
TM_FN unsigned short __half2ushort_rn(__half v) TM_IS(return (unsigned short)tm_clamped(rintf((float)v), 0.0, 65535.0);)
TM_FN unsigned short __half2ushort_rz(__half v) TM_IS(return (unsigned short)tm_clamped(truncf((float)v), 0.0, 65535.0);)
TM_FN unsigned __half2uint_rn(__half v) TM_IS(return __float2uint_rn((float)v);)
TM_FN unsigned __half2uint_rz(__half v) TM_IS(return __float2uint_rz((float)v);)
TM_FN long long __half2ll_rn(__half v) TM_IS(return __float2ll_rn((float)v);)
TM_FN long long __half2ll_rz(__half v) TM_IS(return __float2ll_rz((float)v);)
TM_FN int __half2int_rn(__half v) TM_IS(return __float2int_rn((float)v);)
TM_FN int __half2int_rz(__half v) TM_IS(return __float2int_rz((float)v);)
TM_FN short __half_as_short(__half v) TM_IS(return (short)v.__x;)
TM_FN unsigned short __half_as_ushort(__half v) TM_IS(return v.__x;)
TM_FN __half __short_as_half(short v) TM_IS(__half h; h.__x = (unsigned short)v; return h;)
TM_FN __half2 __float2half2_rn(float v) TM_IS(return __half2(__half(v), __half(v));)
TM_FN __half2 __floats2half2_rn(float a, float b) TM_IS(return __half2(__half(a), __half(b));)
TM_FN __half2 __float22half2_rn(float2 v) TM_IS(return __half2(__half(v.x), __half(v.y));)
TM_FN float2 __half22float2(__half2 v) TM_IS(return float2{(float)v.x, (float)v.y};)
TM_FN __half2 __half2half2(__half v) TM_IS(return __half2(v, v);)
TM_FN __half2 __halves2half2(__half a, __half b) TM_IS(return __half2(a, b);)
TM_FN __half2 make_half2(__half a, __half b) TM_IS(return __half2(a, b);)
TM_FN __half __low2half(__half2 v) TM_IS(return v.x;)
TM_FN __half __high2half(__half2 v) TM_IS(return v.y;)
TM_FN float __low2float(__half2 v) TM_IS(return (float)v.x;)
TM_FN float __high2float(__half2 v) TM_IS(return (float)v.y;)
TM_FN __half2 __low2half2(__half2 v) TM_IS(return __half2(v.x, v.x);)
TM_FN __half2 __high2half2(__half2 v) TM_IS(return __half2(v.y, v.y);)
TM_FN __half2 __lowhigh2highlow(__half2 v) TM_IS(return __half2(v.y, v.x);)
#define CUDART_ZERO_FP16 __ushort_as_half(0)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#endif
