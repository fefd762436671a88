// What device code needs of the block executor (g++ only): the current thread's indices and the
// suspension points. Defined in libtm_executor (one block at a time, guarded) and in libtm_cudart
// (programs).
#ifndef TM_EXECUTOR_DEVICE_H
#define TM_EXECUTOR_DEVICE_H
#include "vector_types.h"

#ifdef TM_CLANG_CUDA
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
extern __device__ const int warpSize;
#else
// The executor writes these whenever it switches threads: constant for the thread that reads them.
#define TM_TLS(symbol) __asm__(symbol) __attribute__((tls_model("initial-exec"), visibility("default")))
extern __thread const uint3 threadIdx TM_TLS("tm_thread_idx");
extern __thread const uint3 blockIdx TM_TLS("tm_block_idx");
extern __thread const uint3 blockDim TM_TLS("tm_block_dim");
extern __thread const uint3 gridDim TM_TLS("tm_grid_dim");
#undef TM_TLS
enum { warpSize = 32 };

extern "C" {
void tm_sync_block(void);
int tm_sync_block_count(int predicate);
int tm_sync_block_and(int predicate);
int tm_sync_block_or(int predicate);
void tm_sync_grid(void);  // all blocks of a cooperative launch
void tm_sync_warp(unsigned mask);
// kind: 0 index, 1 up, 2 down, 3 xor. *valid is what shfl_sync's predicate form reports.
unsigned long long tm_shuffle(unsigned mask, unsigned long long value, int kind, unsigned operand,
                              int width, int *valid);
unsigned tm_ballot(unsigned mask, int predicate);
unsigned tm_match_any(unsigned mask, unsigned long long value);
unsigned tm_match_all(unsigned mask, unsigned long long value, int *predicate);
// kind: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor.
unsigned tm_reduce(unsigned mask, unsigned value, int kind, int is_signed);
unsigned tm_active_mask(void);
unsigned tm_lane_id(void);
void tm_yield(void);
void tm_trap(void) __attribute__((noreturn));
// Tells once on stderr which device function programs cannot call; the block executor has none.
void tm_tell_refused(const char *what) __attribute__((weak));
void tm_exit_thread(void) __attribute__((noreturn));
long long tm_clock(void);
void *tm_dynamic_shared(void);
unsigned tm_dynamic_shared_size(void);
}
// What is declared so that it is found, but does not execute, ends the launch.
__attribute__((noreturn)) static inline void tm_refuse(const char *what) {
  if (tm_tell_refused) tm_tell_refused(what);
  tm_trap();
}
#endif

#endif
