// Integer functions on two halfwords or four bytes of a word, and the three-operand minima and maxima.
#ifndef TM_CUDA_PRELUDE_H
#include "tm_cuda_prelude.h"
#endif
#ifndef TM_DEVICE_SIMD_H
#define TM_DEVICE_SIMD_H

#ifndef TM_CLANG_CUDA
// f of each pair of lanes, cut to the lane's width; S says whether lanes are signed.
template <int N, bool S, class F> static inline unsigned tm_lanes(unsigned a, unsigned b, F f) {
  const int width = 32 / N;
  const unsigned mask = (1u << width) - 1;
  unsigned result = 0;
  for (int i = 0; i < N; ++i) {
    const int spare = 32 - width, low = i * width;
    unsigned x = a >> low << spare, y = b >> low << spare;
    const int u = S ? (int)x >> spare : (int)(x >> spare), v = S ? (int)y >> spare : (int)(y >> spare);
    result |= ((unsigned)f(u, v) & mask) << low;
  }
  return result;
}
template <int N, bool S> static inline int tm_saturated(int v) {
  const int width = 32 / N, high = S ? (1 << (width - 1)) - 1 : (1 << width) - 1, low = S ? -high - 1 : 0;
  return v < low ? low : v > high ? high : v;
}
template <int N, bool S> static inline unsigned tm_lane_sum(unsigned a, unsigned b) {
  unsigned sum = 0;
  tm_lanes<N, S>(a, b, [&sum](int u, int v) { sum += (unsigned)(u < v ? v - u : u - v); return 0; });
  return sum;
}
#endif

#define TM_LANES(NAME, N, S, EXPRESSION) \
  TM_FN unsigned NAME(unsigned a, unsigned b) TM_IS(return tm_lanes<N, S>(a, b, [](int u, int v) { return EXPRESSION; });)
#define TM_LANE(NAME, N, EXPRESSION) \
  TM_FN unsigned NAME(unsigned a) TM_IS(return tm_lanes<N, true>(a, a, [](int u, int) { return EXPRESSION; });)
#define TM_COMPARED(NAME, N, S, OP)         \
  TM_LANES(__vcmp##NAME##N, N, S, -(u OP v)) \
  TM_LANES(__vset##NAME##N, N, S, u OP v)
#define TM_SIMD(N)                                                   \
  TM_LANE(__vabs##N, N, u < 0 ? -u : u)                              \
  TM_LANE(__vabsss##N, N, (tm_saturated<N, true>(u < 0 ? -u : u)))   \
  TM_LANE(__vneg##N, N, -u)                                          \
  TM_LANE(__vnegss##N, N, (tm_saturated<N, true>(-u)))               \
  TM_LANES(__vadd##N, N, true, u + v)                                \
  TM_LANES(__vaddss##N, N, true, (tm_saturated<N, true>(u + v)))     \
  TM_LANES(__vaddus##N, N, false, (tm_saturated<N, false>(u + v)))   \
  TM_LANES(__vsub##N, N, true, u - v)                                \
  TM_LANES(__vsubss##N, N, true, (tm_saturated<N, true>(u - v)))     \
  TM_LANES(__vsubus##N, N, false, (tm_saturated<N, false>(u - v)))   \
  TM_LANES(__vabsdiffs##N, N, true, u < v ? v - u : u - v)           \
  TM_LANES(__vabsdiffu##N, N, false, u < v ? v - u : u - v)          \
  TM_LANES(__vavgu##N, N, false, (u + v + 1) / 2)                    \
  TM_LANES(__vhaddu##N, N, false, (u + v) / 2)                       \
  TM_LANES(__vmaxs##N, N, true, u < v ? v : u)                       \
  TM_LANES(__vmaxu##N, N, false, u < v ? v : u)                      \
  TM_LANES(__vmins##N, N, true, v < u ? v : u)                       \
  TM_LANES(__vminu##N, N, false, v < u ? v : u)                      \
  TM_COMPARED(eq, N, false, ==)                                      \
  TM_COMPARED(ne, N, false, !=)                                      \
  TM_COMPARED(gts, N, true, >)                                       \
  TM_COMPARED(gtu, N, false, >)                                      \
  TM_COMPARED(ges, N, true, >=)                                      \
  TM_COMPARED(geu, N, false, >=)                                     \
  TM_COMPARED(lts, N, true, <)                                       \
  TM_COMPARED(ltu, N, false, <)                                      \
  TM_COMPARED(les, N, true, <=)                                      \
  TM_COMPARED(leu, N, false, <=)                                     \
  TM_FN unsigned __vsads##N(unsigned a, unsigned b) TM_IS(return tm_lane_sum<N, true>(a, b);) \
  TM_FN unsigned __vsadu##N(unsigned a, unsigned b) TM_IS(return tm_lane_sum<N, false>(a, b);)
TM_SIMD(2)
TM_SIMD(4)
#undef TM_SIMD
#undef TM_COMPARED
#undef TM_LANE
#undef TM_LANES

// Two halfwords times the low or the high two bytes of b, added to c.
TM_FN int __dp2a_lo(int a, int b, int c)
    TM_IS(return (int)((unsigned)c + (unsigned)((short)a * (signed char)b) +
                       (unsigned)((a >> 16) * (signed char)(b >> 8)));)
TM_FN int __dp2a_hi(int a, int b, int c) TM_IS(return __dp2a_lo(a, b >> 16, c);)
TM_FN unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
    TM_IS(return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);)
TM_FN unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) TM_IS(return __dp2a_lo(a, b >> 16, c);)

#define TM_EXTREMES(SUFFIX, T, RELU)                                                            \
  TM_FN T __vimax##RELU##SUFFIX(T a, T b, T c) TM_IS(T m = a < b ? b : a; return m < c ? c : m;) \
  TM_FN T __vimin##RELU##SUFFIX(T a, T b, T c) TM_IS(T m = b < a ? b : a; return c < m ? c : m;)
TM_EXTREMES(_s32, int, 3)
TM_EXTREMES(_u32, unsigned, 3)
#undef TM_EXTREMES
TM_FN int __vimax3_s32_relu(int a, int b, int c) TM_IS(int m = __vimax3_s32(a, b, c); return m < 0 ? 0 : m;)
TM_FN int __vimin3_s32_relu(int a, int b, int c) TM_IS(int m = __vimin3_s32(a, b, c); return m < 0 ? 0 : m;)
TM_FN int __vimax_s32_relu(int a, int b) TM_IS(return __vimax3_s32(a, b, 0);)
TM_FN int __vimin_s32_relu(int a, int b) TM_IS(return __vimin3_s32_relu(a, b, b);)
TM_FN int __viaddmax_s32(int a, int b, int c) TM_IS(int s = (int)((unsigned)a + (unsigned)b); return s < c ? c : s;)
TM_FN int __viaddmin_s32(int a, int b, int c) TM_IS(int s = (int)((unsigned)a + (unsigned)b); return c < s ? c : s;)
TM_FN unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) TM_IS(return a + b < c ? c : a + b;)
TM_FN unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) TM_IS(return c < a + b ? c : a + b;)
TM_FN int __viaddmax_s32_relu(int a, int b, int c) TM_IS(int m = __viaddmax_s32(a, b, c); return m < 0 ? 0 : m;)
TM_FN int __viaddmin_s32_relu(int a, int b, int c) TM_IS(int m = __viaddmin_s32(a, b, c); return m < 0 ? 0 : m;)
#endif
