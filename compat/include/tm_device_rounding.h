// Arithmetic and conversions that round towards zero, up or down: each runs under that rounding mode.
#ifndef TM_CUDA_PRELUDE_H
#include "tm_cuda_prelude.h"
#endif
#ifndef TM_DEVICE_ROUNDING_H
#define TM_DEVICE_ROUNDING_H

#ifndef TM_CLANG_CUDA
#include <fenv.h>
struct tm_rounding {
  int before;
  explicit tm_rounding(int mode) : before(fegetround()) { fesetround(mode); }
  ~tm_rounding() { fesetround(before); }
};
// The operands, copied to volatile u, v and w, are read after the mode is set; the result is stored before it is reset.
#define TM_UNDER(MODE, T, OPERANDS, EXPRESSION) \
  TM_IS(volatile OPERANDS; volatile T result;   \
        {                                       \
          tm_rounding mode(MODE);               \
          result = EXPRESSION;                  \
        }                                       \
        return result;)
#else
#define TM_UNDER(MODE, T, OPERANDS, EXPRESSION) ;
#endif
#define TM_AND ,

#define TM_BINARY(NAME, T, OP, MODE) TM_FN T NAME(T a, T b) TM_UNDER(MODE, T, T u = a TM_AND v = b, u OP v)
#define TM_FUSED(NAME, T, FUNCTION, MODE) \
  TM_FN T NAME(T a, T b, T c) TM_UNDER(MODE, T, T u = a TM_AND v = b TM_AND w = c, FUNCTION(u, v, w))
#define TM_UNARY(NAME, FROM, T, EXPRESSION, MODE) TM_FN T NAME(FROM a) TM_UNDER(MODE, T, FROM u = a, EXPRESSION)
#define TM_DIRECTED(SUFFIX, MODE)                                                 \
  TM_BINARY(__fadd##SUFFIX, float, +, MODE)                                       \
  TM_BINARY(__fsub##SUFFIX, float, -, MODE)                                       \
  TM_BINARY(__fmul##SUFFIX, float, *, MODE)                                       \
  TM_BINARY(__fdiv##SUFFIX, float, /, MODE)                                       \
  TM_BINARY(__dadd##SUFFIX, double, +, MODE)                                      \
  TM_BINARY(__dsub##SUFFIX, double, -, MODE)                                      \
  TM_BINARY(__dmul##SUFFIX, double, *, MODE)                                      \
  TM_BINARY(__ddiv##SUFFIX, double, /, MODE)                                      \
  TM_FUSED(__fmaf##SUFFIX, float, fmaf, MODE)                                     \
  TM_FUSED(__fma##SUFFIX, double, fma, MODE)                                      \
  TM_UNARY(__frcp##SUFFIX, float, float, 1.0f / u, MODE)                          \
  TM_UNARY(__drcp##SUFFIX, double, double, 1.0 / u, MODE)                         \
  TM_UNARY(__fsqrt##SUFFIX, float, float, sqrtf(u), MODE)                         \
  TM_UNARY(__dsqrt##SUFFIX, double, double, sqrt(u), MODE)                        \
  TM_UNARY(__double2float##SUFFIX, double, float, (float)u, MODE)                 \
  TM_UNARY(__int2float##SUFFIX, int, float, (float)u, MODE)                       \
  TM_UNARY(__uint2float##SUFFIX, unsigned, float, (float)u, MODE)                 \
  TM_UNARY(__ll2float##SUFFIX, long long, float, (float)u, MODE)                  \
  TM_UNARY(__ull2float##SUFFIX, unsigned long long, float, (float)u, MODE)        \
  TM_UNARY(__ll2double##SUFFIX, long long, double, (double)u, MODE)               \
  TM_UNARY(__ull2double##SUFFIX, unsigned long long, double, (double)u, MODE)

TM_DIRECTED(_rz, FE_TOWARDZERO)
TM_DIRECTED(_rd, FE_DOWNWARD)
TM_DIRECTED(_ru, FE_UPWARD)
#undef TM_DIRECTED
#undef TM_UNARY
#undef TM_FUSED
#undef TM_BINARY
#undef TM_AND
#undef TM_UNDER
#endif
