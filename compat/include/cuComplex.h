// Complex numbers as CUDA has them.
#ifndef TM_CUCOMPLEX_H
#define TM_CUCOMPLEX_H
#include "tm_cuda_prelude.h"
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define TM_COMPLEX(T, R, S, SQRT, FABS)                                                            \
  TM_CFN R cuCreal##S(T v) { return v.x; }                                                         \
  TM_CFN R cuCimag##S(T v) { return v.y; }                                                         \
  TM_CFN T cuConj##S(T v) { T r; r.x = v.x; r.y = -v.y; return r; }                                \
  TM_CFN T cuCadd##S(T a, T b) { T r; r.x = a.x + b.x; r.y = a.y + b.y; return r; }                \
  TM_CFN T cuCsub##S(T a, T b) { T r; r.x = a.x - b.x; r.y = a.y - b.y; return r; }                \
  TM_CFN T cuCmul##S(T a, T b) {                                                                   \
    T r; r.x = a.x * b.x - a.y * b.y; r.y = a.x * b.y + a.y * b.x; return r; }                     \
  TM_CFN T cuCdiv##S(T a, T b) {                                                                   \
    R s = FABS(b.x) + FABS(b.y), o = (R)1 / s;                                                     \
    R ax = a.x * o, ay = a.y * o, bx = b.x * o, by = b.y * o;                                      \
    R q = (R)1 / (bx * bx + by * by);                                                              \
    T r; r.x = (ax * bx + ay * by) * q; r.y = (ay * bx - ax * by) * q; return r; }                 \
  TM_CFN R cuCabs##S(T v) {                                                                        \
    R a = FABS(v.x), b = FABS(v.y), h = a > b ? a : b, l = a > b ? b : a;                          \
    if (h == (R)0) return a + b;                                                                   \
    R t = l / h; return h * SQRT((R)1 + t * t); }
#define TM_CFN static inline __host__ __device__
TM_COMPLEX(cuFloatComplex, float, f, sqrtf, fabsf)
TM_COMPLEX(cuDoubleComplex, double, , sqrt, fabs)
TM_CFN cuFloatComplex make_cuFloatComplex(float x, float y) { cuFloatComplex r; r.x = x; r.y = y; return r; }
TM_CFN cuDoubleComplex make_cuDoubleComplex(double x, double y) { cuDoubleComplex r; r.x = x; r.y = y; return r; }
TM_CFN cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
TM_CFN cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) { return cuCaddf(cuCmulf(a, b), c); }
TM_CFN cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c) { return cuCadd(cuCmul(a, b), c); }
TM_CFN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex v) { return make_cuDoubleComplex(v.x, v.y); }
TM_CFN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex v) { return make_cuFloatComplex((float)v.x, (float)v.y); }
#undef TM_CFN
#undef TM_COMPLEX
#endif
