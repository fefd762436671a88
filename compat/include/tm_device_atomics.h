// CUDA's atomic functions at device, block and system scope. A block runs on one OS thread, and
// blocks may run on several: hence real atomic operations.
#ifndef TM_CUDA_PRELUDE_H
#include "tm_cuda_prelude.h"
#endif
#ifndef TM_DEVICE_ATOMICS_H
#define TM_DEVICE_ATOMICS_H

#ifndef TM_CLANG_CUDA
// Applies `next` to *address in a compare-and-swap loop on the representation; returns the old value.
template <class T, class Next>
static inline T tm_atomic_update(T *address, Next next) {
  typedef typename std::conditional<
      sizeof(T) == 8, unsigned long long,
      typename std::conditional<sizeof(T) == 4, unsigned, unsigned short>::type>::type bits_t;
  bits_t *word = reinterpret_cast<bits_t *>(address);
  bits_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T old, fresh;
    bits_t wanted;
    __builtin_memcpy(&old, &seen, sizeof(T));
    fresh = next(old);
    __builtin_memcpy(&wanted, &fresh, sizeof(T));
    if (__atomic_compare_exchange_n(word, &seen, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return old;
  }
}
#endif

#define TM_ATOMIC_ONE(NAME, T, EXPR)                                                             \
  TM_FN T NAME(T *address, T value)                                                                \
      TM_IS(return tm_atomic_update(address, [value](T old) -> T { return EXPR; });)
// An exchange that changes nothing is a spinning thread: the others get their turn.
#define TM_ATOMIC_EXCHANGE_ONE(NAME, T)                                                          \
  TM_FN T NAME(T *address, T value)                                                                \
      TM_IS(T old = tm_atomic_update(address, [value](T) -> T { return value; });                  \
            if (old == value) tm_yield();                                                          \
            return old;)
#define TM_ATOMIC_EXCHANGE(T)                                                                    \
  TM_ATOMIC_EXCHANGE_ONE(atomicExch, T)                                                            \
  TM_ATOMIC_EXCHANGE_ONE(atomicExch_block, T)                                                      \
  TM_ATOMIC_EXCHANGE_ONE(atomicExch_system, T)
#define TM_ATOMIC(NAME, T, EXPR)                                                                 \
  TM_ATOMIC_ONE(NAME, T, EXPR)                                                                     \
  TM_ATOMIC_ONE(NAME##_block, T, EXPR)                                                             \
  TM_ATOMIC_ONE(NAME##_system, T, EXPR)
#define TM_ATOMIC_CAS_ONE(NAME, T)                                                               \
  TM_FN T NAME(T *address, T compare, T value)                                                     \
      TM_IS(T old = compare;                                                                       \
            if (!__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_SEQ_CST,        \
                                             __ATOMIC_SEQ_CST))                                    \
              tm_yield();                                                                          \
            return old;)
#define TM_ATOMIC_CAS(T)                                                                         \
  TM_ATOMIC_CAS_ONE(atomicCAS, T)                                                                  \
  TM_ATOMIC_CAS_ONE(atomicCAS_block, T)                                                            \
  TM_ATOMIC_CAS_ONE(atomicCAS_system, T)

#define TM_ATOMIC_INTEGERS(X)                                                                    \
  X(int)                                                                                           \
  X(unsigned int)                                                                                  \
  X(unsigned long long)
#define TM_ATOMIC_ORDERED(T)                                                                     \
  TM_ATOMIC(atomicMin, T, value < old ? value : old)                                               \
  TM_ATOMIC(atomicMax, T, value > old ? value : old)                                               \
  TM_ATOMIC(atomicAnd, T, (T)(old & value))                                                        \
  TM_ATOMIC(atomicOr, T, (T)(old | value))                                                         \
  TM_ATOMIC(atomicXor, T, (T)(old ^ value))
#define TM_ATOMIC_BASIC(T)                                                                       \
  TM_ATOMIC(atomicAdd, T, (T)(old + value))                                                        \
  TM_ATOMIC_EXCHANGE(T)                                                                            \
  TM_ATOMIC_CAS(T)
TM_ATOMIC_INTEGERS(TM_ATOMIC_ORDERED)
TM_ATOMIC_ORDERED(long long)
TM_ATOMIC_INTEGERS(TM_ATOMIC_BASIC)
TM_ATOMIC_CAS(unsigned short)
TM_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
TM_ATOMIC(atomicSub, unsigned int, old - value)
TM_ATOMIC(atomicInc, unsigned int, old >= value ? 0u : old + 1u)
TM_ATOMIC(atomicDec, unsigned int, (old == 0u || old > value) ? value : old - 1u)
TM_ATOMIC(atomicAdd, float, old + value)
TM_ATOMIC(atomicAdd, double, old + value)
TM_ATOMIC_EXCHANGE(float)

#undef TM_ATOMIC_EXCHANGE
#undef TM_ATOMIC_EXCHANGE_ONE
#undef TM_ATOMIC_BASIC
#undef TM_ATOMIC_ORDERED
#undef TM_ATOMIC_INTEGERS
#undef TM_ATOMIC_CAS
#undef TM_ATOMIC_CAS_ONE
#undef TM_ATOMIC
#undef TM_ATOMIC_ONE

#endif
