// The part of libc, libm and libstdc++ that kernels use, for a machine without C++ headers.
// Good enough to read kernels; host code around them may not parse.
#ifndef TM_NO_SYSTEM_HEADERS_H
#define TM_NO_SYSTEM_HEADERS_H
#include "tm_language.h"
#include "builtin/stddef.h"
#include "builtin/stdarg.h"
#include "builtin/stdint.h"
#include "builtin/limits.h"
#include "builtin/float.h"
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long clock_t;
typedef long time_t;
typedef struct TM_FILE FILE;
extern FILE *stdout, *stderr, *stdin;
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
#define RAND_MAX 2147483647
#define CLOCKS_PER_SEC 1000000L
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_inf())
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define TM_LIBC extern "C" __host__ __device__
TM_LIBC int printf(const char *format, ...);
TM_LIBC int fprintf(FILE *file, const char *format, ...);
TM_LIBC int sprintf(char *text, const char *format, ...);
TM_LIBC int snprintf(char *text, size_t bytes, const char *format, ...);
TM_LIBC int puts(const char *text);
TM_LIBC int fflush(FILE *file);
TM_LIBC void *malloc(size_t bytes);
TM_LIBC void *calloc(size_t count, size_t bytes);
TM_LIBC void *realloc(void *pointer, size_t bytes);
TM_LIBC void free(void *pointer);
TM_LIBC void *memcpy(void *dst, const void *src, size_t bytes);
TM_LIBC void *memmove(void *dst, const void *src, size_t bytes);
TM_LIBC void *memset(void *dst, int value, size_t bytes);
TM_LIBC int memcmp(const void *a, const void *b, size_t bytes);
TM_LIBC int strcmp(const char *a, const char *b);
TM_LIBC size_t strlen(const char *text);
TM_LIBC int atoi(const char *text);
TM_LIBC double atof(const char *text);
TM_LIBC int rand(void);
TM_LIBC void srand(unsigned seed);
TM_LIBC void exit(int status);
TM_LIBC void abort(void);
TM_LIBC clock_t clock(void);
TM_LIBC time_t time(time_t *t);
TM_LIBC int abs(int x);
TM_LIBC long labs(long x);
TM_LIBC long long llabs(long long x);
TM_LIBC void __assert_fail(const char *text, const char *file, unsigned line, const char *function);
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, ""))
#define TM_M1(N) TM_LIBC double N(double x); TM_LIBC float N##f(float x); TM_FN float N(float x);
#define TM_M2(N) TM_LIBC double N(double x, double y); TM_LIBC float N##f(float x, float y); TM_FN float N(float x, float y);
TM_M1(sqrt) TM_M1(cbrt) TM_M1(exp) TM_M1(exp2) TM_M1(exp10) TM_M1(expm1) TM_M1(log) TM_M1(log2) TM_M1(log10)
TM_M1(log1p) TM_M1(logb) TM_M1(sin) TM_M1(cos) TM_M1(tan) TM_M1(asin) TM_M1(acos) TM_M1(atan) TM_M1(sinh)
TM_M1(cosh) TM_M1(tanh) TM_M1(asinh) TM_M1(acosh) TM_M1(atanh) TM_M1(erf) TM_M1(erfc) TM_M1(tgamma) TM_M1(lgamma)
TM_M1(floor) TM_M1(ceil) TM_M1(trunc) TM_M1(round) TM_M1(rint) TM_M1(nearbyint) TM_M1(fabs) TM_M1(j0) TM_M1(j1)
TM_M1(y0) TM_M1(y1)
TM_M2(pow) TM_M2(atan2) TM_M2(hypot) TM_M2(fmod) TM_M2(remainder) TM_M2(fmin) TM_M2(fmax) TM_M2(fdim) TM_M2(copysign)
TM_M2(nextafter)
#undef TM_M1
#undef TM_M2
TM_LIBC double fma(double a, double b, double c);
TM_LIBC float fmaf(float a, float b, float c);
TM_FN float fma(float a, float b, float c);
TM_LIBC double ldexp(double x, int e);
TM_LIBC float ldexpf(float x, int e);
TM_LIBC double scalbn(double x, int e);
TM_LIBC float scalbnf(float x, int e);
TM_LIBC double frexp(double x, int *e);
TM_LIBC float frexpf(float x, int *e);
TM_LIBC double modf(double x, double *i);
TM_LIBC float modff(float x, float *i);
TM_LIBC long lround(double x);
TM_LIBC long lroundf(float x);
TM_LIBC long lrint(double x);
TM_LIBC long lrintf(float x);
TM_LIBC long long llrint(double x);
TM_LIBC int ilogb(double x);
TM_LIBC int ilogbf(float x);
TM_LIBC void sincos(double x, double *s, double *c);
TM_LIBC void sincosf(float x, float *s, float *c);
#define __USE_GNU 1
TM_FN float abs(float x);
TM_FN double abs(double x);
TM_FN long abs(long x);
TM_FN long long abs(long long x);
TM_FN bool isnan(double x);
TM_FN bool isinf(double x);
TM_FN bool isfinite(double x);
TM_FN bool signbit(double x);
namespace std {
typedef ::size_t size_t;
template <class T> struct numeric_limits;
template <> struct numeric_limits<float> {
  static constexpr __host__ __device__ float max() { return __FLT_MAX__; }
  static constexpr __host__ __device__ float min() { return __FLT_MIN__; }
  static constexpr __host__ __device__ float lowest() { return -__FLT_MAX__; }
  static constexpr __host__ __device__ float epsilon() { return __FLT_EPSILON__; }
  static constexpr __host__ __device__ float infinity() { return __builtin_inff(); }
};
template <> struct numeric_limits<double> {
  static constexpr __host__ __device__ double max() { return __DBL_MAX__; }
  static constexpr __host__ __device__ double min() { return __DBL_MIN__; }
  static constexpr __host__ __device__ double lowest() { return -__DBL_MAX__; }
  static constexpr __host__ __device__ double epsilon() { return __DBL_EPSILON__; }
  static constexpr __host__ __device__ double infinity() { return __builtin_inf(); }
};
template <> struct numeric_limits<int> {
  static constexpr __host__ __device__ int max() { return __INT_MAX__; }
  static constexpr __host__ __device__ int min() { return -__INT_MAX__ - 1; }
  static constexpr __host__ __device__ int lowest() { return -__INT_MAX__ - 1; }
};
template <> struct numeric_limits<unsigned> {
  static constexpr __host__ __device__ unsigned max() { return ~0u; }
  static constexpr __host__ __device__ unsigned min() { return 0; }
  static constexpr __host__ __device__ unsigned lowest() { return 0; }
};
template <class T> constexpr __host__ __device__ const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr __host__ __device__ const T &max(const T &a, const T &b) { return a < b ? b : a; }
using ::abs; using ::sqrt; using ::exp; using ::log; using ::pow; using ::sin; using ::cos; using ::tan; using ::fabs;
using ::floor; using ::ceil; using ::fmin; using ::fmax; using ::fma; using ::tanh; using ::isnan; using ::isinf;
using ::isfinite; using ::round; using ::log2; using ::exp2; using ::atan2; using ::fmod; using ::hypot; using ::cbrt;
using ::printf; using ::malloc; using ::free; using ::memcpy; using ::memset; using ::rand; using ::exit;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
} // namespace std
#endif
