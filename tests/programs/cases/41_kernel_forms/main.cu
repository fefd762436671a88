#include <cstdio>
#include <type_traits>

#include "kernels.cuh"

namespace { __global__ void hidden(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; } }
static __global__ void local(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 2; }
namespace { namespace inside { template <class T> __global__ void deep(T *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; } } }

__global__ void declared(int *x, int n, int step) { int i = GLOBAL_INDEX; if (i < n) x[i] += step; }
extern "C" { __global__ void c_block(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; } }

// Attributes before, between and behind.
__launch_bounds__(64) __global__ void bounds_before(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ __launch_bounds__(64, 2) void bounds_between(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void __launch_bounds__(64) bounds_behind(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
void __global__ void_first(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
static void __global__ static_void_first(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ static void global_static(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__attribute__((global)) void attribute_global(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
[[maybe_unused]] __global__ void cxx_attribute(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ auto trailing(int *x, int n) -> void { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void brace_below(int *x, int n)   // {
/* { */
{
  int i = GLOBAL_INDEX; if (i < n) x[i] += 1;
}
__global__ void
several_lines(
    int *x,   // the data {
    int n     /* how many ) */
)
{ int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
#define MY_KERNEL __global__ static void
MY_KERNEL macro_kernel(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
#define KERNEL_OF(name) __global__ void name##_kernel
KERNEL_OF(pasted)(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
#define ELEMENTWISE(NAME, T, ...)                                    \
  template <class U> __global__ void NAME(T *x, int n, U unused) {   \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                   \
    if (i < n) { __VA_ARGS__; }                                      \
  }
ELEMENTWISE(elementwise, int, x[i] += 1)
#define BODY { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void body_macro(int *x, int n) BODY

// Parameters.
typedef int Numbers[64];
using Pointer = int *;
__global__ void array_parameter(int x[], int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void sized_array(int x[64], const int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void rows(int x[][8], int n) { int i = GLOBAL_INDEX; if (i < n) x[i / 8][i % 8] += 1; }
__global__ void pointer_to_array(int (*x)[8], int n) { int i = GLOBAL_INDEX; if (i < n) x[i / 8][i % 8] += 1; }
__global__ void typedef_array(Numbers x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void alias(Pointer x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void restricted(int *__restrict__ x, const int *__restrict__ const one, const volatile int n) {
  int i = GLOBAL_INDEX;
  if (i < n) x[i] += *one;
}
__global__ void unnamed(int *x, int, int n, float, Point) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void unnamed_array(int *x, int n, const int[], int (*)(int)) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void wide(char c, Wide w, int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += (int)w.v[3] + w.tail + c; }
__global__ void derived(Derived d, int n) { int i = GLOBAL_INDEX; if (i < n) d.p[i] = d.plus(d.p[i]); }
__global__ void small(bool a, char b, short c, int *x, unsigned char d, long long e, int n) {
  int i = GLOBAL_INDEX;
  if (i < n) x[i] += a + b + c + d + (int)e;
}
enum class Kind : unsigned char { one = 1, two };
__global__ void enumerated(int *x, int n, Kind kind) { int i = GLOBAL_INDEX; if (i < n) x[i] += (int)kind; }
__global__ void double_pointer(int **rows, int n) { int i = GLOBAL_INDEX; if (i < n) rows[i / 8][i % 8] += 1; }
__global__ void vectors(int *x, int n, int2 a, float4 b, dim3 c) { int i = GLOBAL_INDEX; if (i < n) x[i] += a.y + (int)b.w + c.z; }
// Names that the generated code uses itself, and names of kernels as names of parameters.
__global__ void launch(int *arguments, int launch) { int i = GLOBAL_INDEX; if (i < launch) arguments[i] += 1; }
__global__ void shadowed(int *shadowed, int n) { int i = GLOBAL_INDEX; if (i < n) shadowed[i] += 1; }
__global__ void twin(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void twin(int *x, int n, int by) { int i = GLOBAL_INDEX; if (i < n) x[i] += by; }
__global__ void twin(int *x, int n, float by) { int i = GLOBAL_INDEX; if (i < n) x[i] += (int)(2 * by); }
template <class T> __global__ void twin(T *x, int n, T *by) { int i = GLOBAL_INDEX; if (i < n) x[i] += *by; }
__global__ void nothing() {}
__global__ void takes_void(void) {}
template <class... T> __global__ void pack(int *x, int n, T... values) { int i = GLOBAL_INDEX; if (i < n) x[i] += (0 + ... + (int)values); }
template <int... N> __global__ void value_pack(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += (0 + ... + N); }
template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0>
__global__ void enabled(T *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
template <class, int = 2> __global__ void unnamed_template(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
template <int (*F)(int)> __global__ void function_template_argument(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] = F(x[i]); }
__device__ int plus_one(int v) { return v + 1; }
template <auto V> __global__ void auto_value(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += (int)V; }
template <class T> __global__ void instantiated(T *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
template __global__ void instantiated<int>(int *, int);

// In classes.
struct Class {
  struct Inner { int v; __device__ int get() const { return v; } };
  static void run(int *x, int n) { instantiated<<<2, 32>>>(x, n); }
  friend __global__ void friendly(int *x, int n, Class c);
 private:
  int secret = 1;
};
__global__ void friendly(int *x, int n, Class c) { int i = GLOBAL_INDEX; if (i < n) x[i] += c.secret; }
template <class T> struct Generic {
  void run(T *x, int n) { instantiated<<<2, 32>>>(x, n); ::instantiated<T><<<2, 32>>>(x, n); }
};
__global__ void inner_parameter(int *x, int n, Class::Inner by) { int i = GLOBAL_INDEX; if (i < n) x[i] += by.get(); }

int main() {
  const int n = 50;
  int host[n], *x, *one, wrong = 0, expected = 0, ones = 1;
  int **table, *table_host[8];
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&one, sizeof(int));
  cudaMalloc(&table, sizeof table_host);
  cudaMemset(x, 0, 64 * sizeof(int));
  cudaMemcpy(one, &ones, sizeof ones, cudaMemcpyHostToDevice);
  for (int i = 0; i < 8; ++i) table_host[i] = x + 8 * i;
  cudaMemcpy(table, table_host, sizeof table_host, cudaMemcpyHostToDevice);

  expected += second_unit(x, n);
  hidden<<<2, 32>>>(x, n); expected += 1;
  local<<<2, 32>>>(x, n); expected += 2;
  inside::deep<<<2, 32>>>(x, n); expected += 1;
  declared<<<2, 32>>>(x, n); expected += 2;
  declared<<<2, 32>>>(x, n, 5); expected += 5;
  declared_extern<<<2, 32>>>(x, n); expected += 1;
  c_name<<<2, 32>>>(x, n); expected += 1;
  c_block<<<2, 32>>>(x, n); expected += 1;
  in_header<<<2, 32>>>(x, n); expected += 1;
  inline_kernel<<<2, 32>>>(x, n); expected += 1;
  declared_template<<<2, 32>>>(x, n); expected += 1;
  short *shorts;
  cudaMalloc(&shorts, 64 * sizeof(short));
  cudaMemset(shorts, 0, 64 * sizeof(short));
  declared_template<<<2, 32>>>(shorts, n);
  short first;
  cudaMemcpy(&first, shorts, sizeof first, cudaMemcpyDeviceToHost);
  wrong += first != 2;
  bounded<int, 6><<<2, 32>>>(x, n); expected += 6;
  outer::inner::nested<<<2, 32>>>(x, n); expected += 1;
  outer::inner::with_functor<int, outer::inner::Functor><<<2, 32>>>(x, n, {3}); expected += 3;
  { using namespace outer::inner; with_functor<<<2, 32>>>(x, n, Functor<int>{2}); nested<<<2, 32>>>(x, n); }
  expected += 3;
  bounds_before<<<2, 32>>>(x, n); bounds_between<<<2, 32>>>(x, n); bounds_behind<<<2, 32>>>(x, n); expected += 3;
  void_first<<<2, 32>>>(x, n); static_void_first<<<2, 32>>>(x, n); global_static<<<2, 32>>>(x, n); expected += 3;
  attribute_global<<<2, 32>>>(x, n); cxx_attribute<<<2, 32>>>(x, n); trailing<<<2, 32>>>(x, n); expected += 3;
  brace_below<<<2, 32>>>(x, n); several_lines<<<2, 32>>>(x, n); expected += 2;
  macro_kernel<<<2, 32>>>(x, n); pasted_kernel<<<2, 32>>>(x, n); elementwise<<<2, 32>>>(x, n, 'c'); expected += 3;
  body_macro<<<2, 32>>>(x, n); expected += 1;
  array_parameter<<<2, 32>>>(x, n); sized_array<<<2, 32>>>(x, n); typedef_array<<<2, 32>>>(x, n); expected += 3;
  rows<<<2, 32>>>((int(*)[8])x, n); pointer_to_array<<<2, 32>>>(reinterpret_cast<int(*)[8]>(x), n); expected += 2;
  alias<<<2, 32>>>(x, n); restricted<<<2, 32>>>(x, one, n); unnamed<<<2, 32>>>(x, 1, n, 2.f, Point{1, 2, 3}); expected += 3;
  unnamed_array<<<2, 32>>>(x, n, one, nullptr); expected += 1;
  wide<<<2, 32>>>((char)1, Wide{{1, 2, 3, 4}, 5}, x, n); expected += 10;
  Derived d; d.offset = 4; d.c = 'd'; d.p = x;
  derived<<<2, 32>>>(d, n); expected += 4;
  small<<<2, 32>>>(true, (char)2, (short)3, x, (unsigned char)4, 5LL, n); expected += 15;
  enumerated<<<2, 32>>>(x, n, Kind::two); expected += 2;
  double_pointer<<<2, 32>>>(table, n); expected += 1;
  vectors<<<2, 32>>>(x, n, make_int2(1, 2), make_float4(0, 0, 0, 3), dim3(1, 2, 4)); expected += 9;
  ::launch<<<2, 32>>>(x, n); shadowed<<<2, 32>>>(x, n); expected += 2;
  twin<<<2, 32>>>(x, n); twin<<<2, 32>>>(x, n, 3); twin<<<2, 32>>>(x, n, 2.f); twin<<<2, 32>>>(x, n, one); expected += 9;
  nothing<<<1, 1>>>(); takes_void<<<1, 1>>>();
  pack<<<2, 32>>>(x, n, 1, 2.5f, 'a', 4LL); expected += 1 + 2 + 'a' + 4;
  pack<<<2, 32>>>(x, n);
  value_pack<1, 2, 3><<<2, 32>>>(x, n); expected += 6;
  enabled<<<2, 32>>>(x, n); unnamed_template<float><<<2, 32>>>(x, n); expected += 2;
  function_template_argument<plus_one><<<2, 32>>>(x, n); expected += 1;
  auto_value<5><<<2, 32>>>(x, n); auto_value<'a'><<<2, 32>>>(x, n); expected += 5 + 'a';
  instantiated<<<2, 32>>>(x, n); expected += 1;
  Class::run(x, n); friendly<<<2, 32>>>(x, n, Class{}); expected += 2;
  Generic<int>().run(x, n); expected += 2;
  inner_parameter<<<2, 32>>>(x, n, {6}); expected += 6;

  wrong += cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += host[i] != expected;
  if (wrong) std::printf("%d, not %d\n", host[0], expected);
  std::printf("kernel_forms: %d wrong\n", wrong);
  return wrong != 0;
}
