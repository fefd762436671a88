// Kernels in the forms in which headers declare and define them; several units include this.
#pragma once
#include <cuda_runtime.h>

#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

struct alignas(32) Wide { double v[4]; int tail; };
struct Point { float x, y, z; };
struct Base { int offset; __host__ __device__ int plus(int v) const { return v + offset; } };
struct Derived : Base { char c; int *p; };

__global__ void declared(int *x, int n, int step = 2);
extern __global__ void declared_extern(int *x, int n);
extern "C" __global__ void c_name(int *x, int n);
extern "C" {
__global__ void c_block(int *x, int n);
}
template <class T> __global__ void declared_template(T *x, int n);
template <class T, int N> __global__ void __launch_bounds__(128, 1) bounded(T *x, int n);

static __global__ void in_header(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ inline void inline_kernel(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }

template <class T> __global__ void declared_template(T *x, int n) {
  int i = GLOBAL_INDEX;
  if (i < n) x[i] += 1;
}
template <> __global__ inline void declared_template<short>(short *x, int n) {
  int i = GLOBAL_INDEX;
  if (i < n) x[i] += 2;
}
template <class T, int N> __global__ void __launch_bounds__(128, 1) bounded(T *x, int n) {
  int i = GLOBAL_INDEX;
  if (i < n) x[i] += N;
}

namespace outer { namespace inner {
__global__ void nested(int *x, int n);
template <class T> struct Functor { T by; __host__ __device__ T operator()(T v) const { return v + by; } };
} }
namespace outer::inner {
template <class T, template <class> class F> __global__ void with_functor(T *x, int n, F<T> f) {
  int i = GLOBAL_INDEX;
  if (i < n) x[i] = f(x[i]);
}
}

int second_unit(int *x, int n);
