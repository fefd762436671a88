// Device functions and variables of a header are each unit's own, as its macros make them.
#pragma once
#include <cuda_runtime.h>

__device__ int per_unit = LIMIT;
__constant__ int table[2] = {LIMIT, LIMIT + 1};
__device__ inline int clamped(int v) { return v > LIMIT ? LIMIT : v; }
__device__ __noinline__ inline int weak_limit(int v) { return v + LIMIT; }
static __host__ __device__ __forceinline__ int twice(int v) { return 2 * v; }
__host__ __device__ __forceinline__ int thrice(int v) { return 3 * v; }
struct Step {
  int by;
  __device__ __noinline__ int next(int v) const { return v + by * LIMIT; }
};
template <class T> __device__ __noinline__ T scaled(T v) { return v * LIMIT; }
