#pragma once
#include <cuda_runtime.h>

// One a unit: each unit that includes this has its own.
static __device__ int unit_counter;
static __constant__ int unit_table[4] = {1, 2, 3, 4};
__device__ inline int shared_inline(int v) { return v + unit_table[v & 3]; }

template <class T> struct Scale {
  T by;
  __host__ __device__ explicit Scale(T b) : by(b) {}
  __host__ __device__ T operator()(T v) const;
};
template <class T> __host__ __device__ T Scale<T>::operator()(T v) const { return v * by; }

int other_counter(int launches);
