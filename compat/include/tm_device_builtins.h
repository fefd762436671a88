// Barriers, fences, votes, shuffles, caching hints and bit intrinsics.
#ifndef TM_CUDA_PRELUDE_H
#include "tm_cuda_prelude.h"
#endif
#ifndef TM_DEVICE_BUILTINS_H
#define TM_DEVICE_BUILTINS_H

#ifdef TM_CLANG_CUDA
#define TM_SYNC_FN extern "C" __device__
#else
#define TM_SYNC_FN static inline
#endif

TM_SYNC_FN void __syncthreads(void) TM_IS(tm_sync_block();)
TM_SYNC_FN int __syncthreads_count(int predicate) TM_IS(return tm_sync_block_count(predicate);)
TM_SYNC_FN int __syncthreads_and(int predicate) TM_IS(return tm_sync_block_and(predicate);)
TM_SYNC_FN int __syncthreads_or(int predicate) TM_IS(return tm_sync_block_or(predicate);)
// Barrier 0 is __syncthreads's; the others count threads of their own.
TM_SYNC_FN void __barrier_sync(unsigned id) TM_IS(if (id) tm_refuse("__barrier_sync of another barrier than 0"); tm_sync_block();)
TM_SYNC_FN void __barrier_sync_count(unsigned id, unsigned count) TM_IS((void)id; (void)count; tm_refuse(__func__);)
TM_SYNC_FN void __threadfence(void) TM_IS(__atomic_thread_fence(__ATOMIC_SEQ_CST);)
TM_SYNC_FN void __threadfence_block(void) TM_IS(__atomic_thread_fence(__ATOMIC_SEQ_CST);)
TM_SYNC_FN void __threadfence_system(void) TM_IS(__atomic_thread_fence(__ATOMIC_SEQ_CST);)
#undef TM_SYNC_FN
TM_FN void __syncwarp(unsigned mask = 0xffffffffu) TM_IS(tm_sync_warp(mask);)
TM_FN void __nanosleep(unsigned) TM_IS(tm_yield();)
TM_FN void __trap(void) TM_IS(tm_trap();)
TM_FN void __brkpt(void) TM_IS(tm_trap();)
TM_FN void __prof_trigger(int) TM_IS()
TM_FN unsigned __activemask(void) TM_IS(return tm_active_mask();)
TM_FN unsigned __ballot_sync(unsigned mask, int predicate) TM_IS(return tm_ballot(mask, predicate);)
#ifdef TM_CLANG_CUDA
TM_FN int __all_sync(unsigned mask, int predicate);
#else
TM_FN int __all_sync(unsigned mask, int predicate) {
  return tm_reduce(mask, predicate != 0, 3, 0) != 0;
}
#endif
TM_FN int __any_sync(unsigned mask, int predicate) TM_IS(return tm_ballot(mask, predicate) != 0;)
TM_FN unsigned __ballot(int predicate) TM_IS(return tm_ballot(tm_active_mask(), predicate);)
TM_FN int __any(int predicate) TM_IS(return __any_sync(tm_active_mask(), predicate);)
TM_FN int __all(int predicate) TM_IS(return __all_sync(tm_active_mask(), predicate);)
TM_FN unsigned __lane_id(void) TM_IS(return tm_lane_id();)
TM_FN unsigned __reduce_add_sync(unsigned m, unsigned v) TM_IS(return tm_reduce(m, v, 0, 0);)
TM_FN unsigned __reduce_min_sync(unsigned m, unsigned v) TM_IS(return tm_reduce(m, v, 1, 0);)
TM_FN unsigned __reduce_max_sync(unsigned m, unsigned v) TM_IS(return tm_reduce(m, v, 2, 0);)
TM_FN int __reduce_add_sync(unsigned m, int v) TM_IS(return (int)tm_reduce(m, v, 0, 1);)
TM_FN int __reduce_min_sync(unsigned m, int v) TM_IS(return (int)tm_reduce(m, v, 1, 1);)
TM_FN int __reduce_max_sync(unsigned m, int v) TM_IS(return (int)tm_reduce(m, v, 2, 1);)
TM_FN unsigned __reduce_and_sync(unsigned m, unsigned v) TM_IS(return tm_reduce(m, v, 3, 0);)
TM_FN unsigned __reduce_or_sync(unsigned m, unsigned v) TM_IS(return tm_reduce(m, v, 4, 0);)
TM_FN unsigned __reduce_xor_sync(unsigned m, unsigned v) TM_IS(return tm_reduce(m, v, 5, 0);)

#ifndef TM_CLANG_CUDA
template <class T>
static inline unsigned long long tm_to_bits(T value) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
static inline T tm_from_bits(unsigned long long bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
#endif

#define TM_SHUFFLES(T)                                                                           \
  TM_FN T __shfl_sync(unsigned mask, T value, int lane, int width = 32)                            \
      TM_IS(return tm_from_bits<T>(tm_shuffle(mask, tm_to_bits(value), 0, lane, width, 0));)       \
  TM_FN T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)                   \
      TM_IS(return tm_from_bits<T>(tm_shuffle(mask, tm_to_bits(value), 1, delta, width, 0));)      \
  TM_FN T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)                 \
      TM_IS(return tm_from_bits<T>(tm_shuffle(mask, tm_to_bits(value), 2, delta, width, 0));)      \
  TM_FN T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)                       \
      TM_IS(return tm_from_bits<T>(tm_shuffle(mask, tm_to_bits(value), 3, lanes, width, 0));)      \
  TM_FN T __shfl(T value, int lane, int width = 32)                                                \
      TM_IS(return __shfl_sync(tm_active_mask(), value, lane, width);)                             \
  TM_FN T __shfl_up(T value, unsigned delta, int width = 32)                                       \
      TM_IS(return __shfl_up_sync(tm_active_mask(), value, delta, width);)                         \
  TM_FN T __shfl_down(T value, unsigned delta, int width = 32)                                     \
      TM_IS(return __shfl_down_sync(tm_active_mask(), value, delta, width);)                       \
  TM_FN T __shfl_xor(T value, int lanes, int width = 32)                                           \
      TM_IS(return __shfl_xor_sync(tm_active_mask(), value, lanes, width);)
#define TM_MATCHES(T)                                                                            \
  TM_FN unsigned __match_any_sync(unsigned mask, T value)                                          \
      TM_IS(return tm_match_any(mask, tm_to_bits(value));)                                         \
  TM_FN unsigned __match_all_sync(unsigned mask, T value, int *predicate)                          \
      TM_IS(return tm_match_all(mask, tm_to_bits(value), predicate);)
#define TM_CACHE_HINTS(T)                                                                        \
  TM_FN T __ldg(const T *p) TM_IS(return *p;)                                                      \
  TM_FN T __ldcg(const T *p) TM_IS(return *p;)                                                     \
  TM_FN T __ldca(const T *p) TM_IS(return *p;)                                                     \
  TM_FN T __ldcs(const T *p) TM_IS(return *p;)                                                     \
  TM_FN T __ldlu(const T *p) TM_IS(return *p;)                                                     \
  TM_FN T __ldcv(const T *p) TM_IS(return *p;)                                                     \
  TM_FN void __stcg(T *p, T v) TM_IS(*p = v;)                                                      \
  TM_FN void __stcs(T *p, T v) TM_IS(*p = v;)                                                      \
  TM_FN void __stwb(T *p, T v) TM_IS(*p = v;)                                                      \
  TM_FN void __stwt(T *p, T v) TM_IS(*p = v;)
#define TM_WARP_TYPES(X) X(int) X(unsigned int) X(long) X(unsigned long) X(long long)              \
  X(unsigned long long) X(float) X(double)
TM_WARP_TYPES(TM_SHUFFLES)
TM_WARP_TYPES(TM_MATCHES)
TM_WARP_TYPES(TM_CACHE_HINTS)
#define TM_HINTED_TYPES(X) X(char) X(signed char) X(unsigned char) X(short) X(unsigned short)      \
  X(char2) X(char4) X(uchar2) X(uchar4) X(short2) X(short4) X(ushort2) X(ushort4) X(int2) X(int4)  \
  X(uint2) X(uint4) X(longlong2) X(ulonglong2) X(float2) X(float4) X(double2)
TM_HINTED_TYPES(TM_CACHE_HINTS)

TM_FN int __popc(unsigned v) TM_IS(return __builtin_popcount(v);)
TM_FN int __popcll(unsigned long long v) TM_IS(return __builtin_popcountll(v);)
TM_FN int __clz(int v) TM_IS(return v ? __builtin_clz((unsigned)v) : 32;)
TM_FN int __clzll(long long v) TM_IS(return v ? __builtin_clzll((unsigned long long)v) : 64;)
TM_FN int __ffs(int v) TM_IS(return __builtin_ffs(v);)
TM_FN int __ffsll(long long v) TM_IS(return __builtin_ffsll(v);)
#ifdef TM_CLANG_CUDA
TM_FN unsigned __brev(unsigned v);
TM_FN unsigned long long __brevll(unsigned long long v);
#else
static inline unsigned __brev(unsigned v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}
static inline unsigned long long __brevll(unsigned long long v) {
  return ((unsigned long long)__brev((unsigned)v) << 32) | __brev((unsigned)(v >> 32));
}
#endif
TM_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned s) TM_IS(
  unsigned long long both = ((unsigned long long)y << 32) | x; unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned n = (s >> (4 * i)) & 15u;
    unsigned b = (unsigned)(both >> (8 * (n & 7u))) & 0xffu;
    if (n & 8u) b = (b & 0x80u) ? 0xffu : 0u;
    r |= b << (8 * i);
  } return r;)
TM_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s)
  TM_IS(s &= 31; return s ? (hi << s) | (lo >> (32 - s)) : hi;)
TM_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s)
  TM_IS(s &= 31; return s ? (lo >> s) | (hi << (32 - s)) : lo;)
TM_FN unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s)
  TM_IS(if (s >= 32) return lo; return s ? (hi << s) | (lo >> (32 - s)) : hi;)
TM_FN unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s)
  TM_IS(if (s >= 32) return hi; return s ? (lo >> s) | (hi << (32 - s)) : lo;)
TM_FN int __mul24(int a, int b)
  TM_IS(return (int)((unsigned)((a << 8) >> 8) * (unsigned)((b << 8) >> 8));)
TM_FN unsigned __umul24(unsigned a, unsigned b) TM_IS(return (a & 0xffffffu) * (b & 0xffffffu);)
TM_FN int __mulhi(int a, int b) TM_IS(return (int)(((long long)a * b) >> 32);)
TM_FN unsigned __umulhi(unsigned a, unsigned b)
  TM_IS(return (unsigned)(((unsigned long long)a * b) >> 32);)
TM_FN long long __mul64hi(long long a, long long b) TM_IS(return (long long)(((__int128)a * b) >> 64);)
TM_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
  TM_IS(return (unsigned long long)(((unsigned __int128)a * b) >> 64);)
TM_FN int __hadd(int a, int b) TM_IS(return (int)(((long long)a + b) >> 1);)
TM_FN int __rhadd(int a, int b) TM_IS(return (int)(((long long)a + b + 1) >> 1);)
TM_FN unsigned __uhadd(unsigned a, unsigned b)
  TM_IS(return (unsigned)(((unsigned long long)a + b) >> 1);)
TM_FN unsigned __urhadd(unsigned a, unsigned b)
  TM_IS(return (unsigned)(((unsigned long long)a + b + 1) >> 1);)
TM_FN unsigned __sad(int a, int b, unsigned c)
  TM_IS(return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;)
TM_FN unsigned __usad(unsigned a, unsigned b, unsigned c) TM_IS(return (a > b ? a - b : b - a) + c;)
TM_FN int __dp4a(int a, int b, int c) TM_IS(
  for (int i = 0; i < 4; ++i) c += (int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i));
  return c;)
TM_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) TM_IS(
  for (int i = 0; i < 4; ++i) c += ((a >> (8 * i)) & 0xffu) * ((b >> (8 * i)) & 0xffu);
  return c;)
TM_FN unsigned __isGlobal(const void *) TM_IS(return 1u;)
TM_FN unsigned long long __cvta_generic_to_shared(const void *p) TM_IS(return (unsigned long long)p;)
TM_FN unsigned long long __cvta_generic_to_global(const void *p) TM_IS(return (unsigned long long)p;)

#ifdef TM_CLANG_CUDA
TM_FN long long clock64(void);
#else
static inline long long clock64(void) { return tm_clock(); }
#endif
TM_FN unsigned long long __globaltimer(void) TM_IS(return (unsigned long long)tm_clock();)

#ifdef TM_CLANG_CUDA
#define TM_MINMAX(N, OP, R, A, B) TM_FN R N(A a, B b);
#else
#define TM_MINMAX(N, OP, R, A, B) \
  static inline constexpr R N(A a, B b) { return (R)a OP (R)b ? (R)a : (R)b; }
#endif
#define TM_MINMAX_SET(N, OP)                                                                     \
  TM_MINMAX(N, OP, int, int, int)                                                                  \
  TM_MINMAX(N, OP, unsigned, unsigned, unsigned)                                                   \
  TM_MINMAX(N, OP, unsigned, int, unsigned)                                                        \
  TM_MINMAX(N, OP, unsigned, unsigned, int)                                                        \
  TM_MINMAX(N, OP, long, long, long)                                                               \
  TM_MINMAX(N, OP, unsigned long, unsigned long, unsigned long)                                    \
  TM_MINMAX(N, OP, unsigned long, long, unsigned long)                                             \
  TM_MINMAX(N, OP, unsigned long, unsigned long, long)                                             \
  TM_MINMAX(N, OP, long long, long long, long long)                                                \
  TM_MINMAX(N, OP, unsigned long long, unsigned long long, unsigned long long)                     \
  TM_MINMAX(N, OP, unsigned long long, long long, unsigned long long)                              \
  TM_MINMAX(N, OP, unsigned long long, unsigned long long, long long)
TM_MINMAX_SET(min, <)
TM_MINMAX_SET(max, >)
#undef TM_MINMAX_SET
#undef TM_MINMAX
TM_FN float min(float a, float b) TM_IS(return fminf(a, b);)
TM_FN double min(double a, double b) TM_IS(return fmin(a, b);)
TM_FN double min(float a, double b) TM_IS(return fmin((double)a, b);)
TM_FN double min(double a, float b) TM_IS(return fmin(a, (double)b);)
TM_FN float max(float a, float b) TM_IS(return fmaxf(a, b);)
TM_FN double max(double a, double b) TM_IS(return fmax(a, b);)
TM_FN double max(float a, double b) TM_IS(return fmax((double)a, b);)
TM_FN double max(double a, float b) TM_IS(return fmax(a, (double)b);)
TM_FN unsigned umin(unsigned a, unsigned b) TM_IS(return a < b ? a : b;)
TM_FN unsigned umax(unsigned a, unsigned b) TM_IS(return a > b ? a : b;)
TM_FN long long llmin(long long a, long long b) TM_IS(return a < b ? a : b;)
TM_FN long long llmax(long long a, long long b) TM_IS(return a > b ? a : b;)
TM_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) TM_IS(return a < b ? a : b;)
TM_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) TM_IS(return a > b ? a : b;)

#endif
