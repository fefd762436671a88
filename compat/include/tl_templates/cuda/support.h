// The names that thread-level CUDA text printed by TileLang relies on, for the block executor.
// Tile operations (gemm, copies by TMA, …) are absent: such text does not compile here.
#ifndef TM_TL_SUPPORT_H
#define TM_TL_SUPPORT_H
#include "../../tm_cuda_prelude.h"
#include "../../cuda_fp16.h"
#include "../../cuda_bf16.h"

#define TL_DEVICE static inline
#define TL_DEVICE_NOINLINE static
#define TL_PATCH
#define CUTLASS_DEVICE static inline
typedef __half half_t;
typedef __nv_bfloat16 bfloat16_t;
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned short ushort;
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

template <class T, class V>
static inline T AtomicAddRet(T *address, V value, int = 0) { return tm_atomic_update(address, [value](T old) -> T { return (T)(old + (T)value); }); }
template <class T, class V>
static inline T AtomicMaxRet(T *address, V value, int = 0) { return tm_atomic_update(address, [value](T old) -> T { return (T)value > old ? (T)value : old; }); }
template <class T, class V>
static inline T AtomicMinRet(T *address, V value, int = 0) { return tm_atomic_update(address, [value](T old) -> T { return (T)value < old ? (T)value : old; }); }
template <class T, class V>
static inline T AtomicOrRet(T *address, V value, int = 0) { return tm_atomic_update(address, [value](T old) -> T { return (T)(old | (T)value); }); }
template <class T, class V>
static inline T AtomicAndRet(T *address, V value, int = 0) { return tm_atomic_update(address, [value](T old) -> T { return (T)(old & (T)value); }); }
template <class T, class V>
static inline T AtomicXorRet(T *address, V value, int = 0) { return tm_atomic_update(address, [value](T old) -> T { return (T)(old ^ (T)value); }); }
template <class T, class V> static inline void AtomicAdd(T *address, V value, int = 0) { AtomicAddRet(address, value); }
template <class T, class V> static inline void AtomicMax(T *address, V value, int = 0) { AtomicMaxRet(address, value); }
template <class T, class V> static inline void AtomicMin(T *address, V value, int = 0) { AtomicMinRet(address, value); }
template <class T, class V> static inline void AtomicOr(T *address, V value, int = 0) { AtomicOrRet(address, value); }
template <class T, class V> static inline void AtomicAnd(T *address, V value, int = 0) { AtomicAndRet(address, value); }
template <class T, class V> static inline void AtomicXor(T *address, V value, int = 0) { AtomicXorRet(address, value); }
// TileLang's vector forms add one component after the other.
template <class T, class V> static inline void AtomicAddx2(T *ref, V *value, int = 0) {
  for (int i = 0; i < 2; ++i) AtomicAdd(ref + i, value[i]);
}
template <class T, class V> static inline void AtomicAddx4(T *ref, V *value, int = 0) {
  for (int i = 0; i < 4; ++i) AtomicAdd(ref + i, value[i]);
}
template <class T> static inline T AtomicLoad(T *address, int = 0) { return *(volatile T *)address; }
template <class T, class V> static inline void AtomicStore(T *address, V value, int = 0) { *(volatile T *)address = (T)value; }

namespace tl {
template <class T> static inline T shfl_sync(unsigned m, T v, int lane, int width = 32) { return __shfl_sync(m, v, lane, width); }
template <class T> static inline T shfl_up_sync(unsigned m, T v, unsigned d, int width = 32) { return __shfl_up_sync(m, v, d, width); }
template <class T> static inline T shfl_down_sync(unsigned m, T v, unsigned d, int width = 32) { return __shfl_down_sync(m, v, d, width); }
template <class T> static inline T shfl_xor_sync(unsigned m, T v, int x, int width = 32) { return __shfl_xor_sync(m, v, x, width); }
template <class T> static inline unsigned to_uint(T v) { return (unsigned)v; }
}  // namespace tl
#endif
