// Device code in forms that front ends and rewriters get wrong; C++17 on the host beside it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "device.cuh"

using namespace std;

__device__ int global_counter = 5;
__device__ __constant__ float constant_both[2] = {1.5f, 2.5f};
__constant__ int *constant_pointer;
__device__ int2 pairs[3] = {{1, 2}, {3, 4}, {5, 6}};
__managed__ int managed_value = 3;
namespace names { __device__ int in_namespace = 9; namespace { __device__ int hidden = 4; } }
struct Config { int a; float b; __host__ __device__ int sum() const { return a + (int)b; } };
__constant__ Config config;
template <class T> __device__ T variable_template = T(6);
constexpr int HOST_CONSTANT = 11;
enum { ENUMERATED = 12 };

__host__ __device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int even(int n);
__device__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

typedef int (*Operation)(int, int);
__device__ int sum(int a, int b) { return a + b; }
__device__ int product(int a, int b) { return a * b; }
__device__ Operation operations[2] = {sum, product};
__device__ Operation chosen = product;

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};

template <int N> struct Fibonacci { static constexpr int value = Fibonacci<N - 1>::value + Fibonacci<N - 2>::value; };
template <> struct Fibonacci<1> { static constexpr int value = 1; };
template <> struct Fibonacci<0> { static constexpr int value = 0; };
template <class F, class... A> __device__ auto apply_to(F f, A... a) -> decltype(f(a...)) { return f(a...); }
template <class T> __device__ void swap_values(T &a, T &b) { T c = a; a = b; b = c; }
__device__ __noinline__ int not_inlined(int v) { return v + 1; }
static __forceinline__ __device__ int force_inlined(int v) { return v + 1; }
__host__ __device__ __forceinline__ int all_words(int v) { return v + 1; }
__device__ void out_parameters(int &a, int *b, int (&c)[2]) { a = 1, *b = 2, c[0] = 3, c[1] = 4; }
__device__ int default_argument(int a, int b = 4) { return a + b; }
__device__ int overloaded(int) { return 1; }
__device__ int overloaded(float) { return 2; }
__device__ int static_local() { static const int table[3] = {7, 8, 9}; return table[1]; }
__host__ __device__ constexpr int square(int v) { return v * v; }
__device__ unsigned bits(float v) { union { float f; unsigned u; } w; w.f = v; return w.u; }

enum { COUNT = 40 };
__global__ void ask(int *out, int seven) {
  int n = 0;
  out[n++] = factorial(seven);                                       // 5040
  out[n++] = even(seven) * 10 + odd(seven);                          // 1
  out[n++] = ackermann(2, 3);                                        // 9
  out[n++] = operations[0](seven, 3) * 100 + operations[1](seven, 3);  // 1021
  out[n++] = chosen(seven, 4);                                       // 28
  Operation local = seven > 6 ? sum : product;
  out[n++] = local(seven, 5);                                        // 12
  Square square_of(seven);
  const Shape &shape = square_of;
  out[n++] = shape.area();                                           // 49
  out[n++] = Fibonacci<10>::value;                                   // 55
  out[n++] = apply_to([=](int a, int b) { return a * seven + b; }, 2, 3);  // 17
  int a = 1, b = seven, c[2];
  swap_values(a, b);
  out[n++] = a * 10 + b;                                             // 71
  out[n++] = not_inlined(1) + force_inlined(1) + all_words(1);       // 6
  out_parameters(a, &b, c);
  out[n++] = a * 1000 + b * 100 + c[0] * 10 + c[1];                  // 1234
  out[n++] = default_argument(1) + default_argument(1, 1);           // 7
  out[n++] = overloaded(1) * 10 + overloaded(1.f);                   // 12
  out[n++] = static_local();                                         // 8
  out[n++] = square(HOST_CONSTANT) + ENUMERATED;                     // 133
  out[n++] = (int)(bits(1.f) >> 23);                                 // 127
  out[n++] = Scale<int>(3)(seven);                                   // 21
  out[n++] = global_counter;                                         // 6, set by the host
  out[n++] = (int)(constant_both[0] + constant_both[1]);             // 4
  out[n++] = *constant_pointer;                                      // 5040
  out[n++] = pairs[2].y;                                             // 6
  out[n++] = managed_value++;                                        // 3
  out[n++] = names::in_namespace + names::hidden;                    // 13
  out[n++] = config.sum();                                           // 42
  out[n++] = variable_template<int>;                                 // 6
  out[n++] = shared_inline(2);                                       // 5
  switch (seven) {
    case 1 ... 5: out[n++] = 1; break;
    case 7: out[n++] = 2; break;                                     // 2
    default: out[n++] = 3;
  }
  int loops = 0;
  for (int i = 0;; ++i) { if (i == 3) continue; if (i > 6) goto done; loops += i; }
done:
  out[n++] = loops;                                                  // 18
  unsigned long long clock = clock64();
  out[n++] = clock != 0;                                             // 1
  out[n++] = __builtin_popcount(seven) + __popc(seven);              // 6
  auto twice = [](auto v) { return v + v; };
  out[n++] = twice(seven) + (int)twice(1.5);                         // 17
  auto [first, second] = pairs[1];
  out[n++] = first * 10 + second;                                    // 34
  if (int half = seven / 2; half == 3) out[n++] = half;              // 3
  if constexpr (sizeof(void *) == 8) out[n++] = 64;                  // 64
  atomicAdd(&unit_counter, 1);
}
// A call that only a device compilation has.
__host__ __device__ inline int where_am_i() {
#if defined(__CUDA_ARCH__)
  return __popc(3);
#else
  return __builtin_popcount(3);
#endif
}
__global__ void where(int *out) { out[threadIdx.x] = where_am_i(); }

int main(int argc, char **argv) {
  static const int right[] = {5040, 1, 9, 1021, 28, 12, 49, 55, 17, 71, 6, 1234, 7, 12, 8, 133, 127, 21, 6, 4, 5040, 6, 3, 13, 42,
                              6, 5, 2, 18, 1, 6, 17, 34, 3, 64};
  int *x, host[COUNT] = {}, wrong = 0, six = 6;
  cudaMalloc(&x, sizeof host);
  cudaMemset(x, 0, sizeof host);
  cudaMemcpyToSymbol(global_counter, &six, sizeof six);
  cudaMemcpyToSymbol(constant_pointer, &x, sizeof x);
  Config values{40, 2.5f};
  wrong += cudaMemcpyToSymbol(config, &values, sizeof values) != cudaSuccess;
  ask<<<1, 1>>>(x, 6 + argc);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < sizeof right / sizeof *right; ++i)
    if (host[i] != right[i]) std::printf("%zu: %d, not %d\n", i, host[i], right[i]), ++wrong;
  wrong += managed_value != 4;
  wrong += factorial(5) != 120 || square(3) != 9 || Scale<int>(2)(4) != 8 || all_words(1) != 2;
  int counter = 0;
  cudaMemcpyFromSymbol(&counter, unit_counter, sizeof counter);
  wrong += counter != 1 || other_counter(2) != 200;
  cudaMemcpyFromSymbol(&counter, unit_counter, sizeof counter);
  wrong += counter != 1;
  void *address;
  size_t bytes;
  wrong += cudaGetSymbolAddress(&address, pairs) != cudaSuccess || cudaGetSymbolSize(&bytes, pairs) != cudaSuccess || bytes != 24;
  int2 pair;
  cudaMemcpyFromSymbol(&pair, pairs, sizeof pair, sizeof pair);
  wrong += pair.x != 3;
  where<<<1, 4>>>(x);
  cudaMemcpy(host, x, 4 * sizeof(int), cudaMemcpyDeviceToHost);
  wrong += host[3] != 2 || where_am_i() != 2;

  // C++17 on the host.
  vector<int> v(10);
  iota(v.begin(), v.end(), 0);
  sort(v.begin(), v.end(), greater<>());
  auto [low, high] = minmax_element(v.begin(), v.end());
  wrong += *low != 0 || *high != 9;
  optional<int> maybe = 3;
  variant<int, string> either = string("text");
  string_view view = get<string>(either);
  wrong += maybe.value_or(0) != 3 || view.size() != 4 || std::min({3, 1, 2}) != 1 || std::max(1.5, 2.5) != 2.5;
  tuple t{1, 2.0, "three"};
  wrong += apply([](auto &&...each) { return (int)sizeof...(each); }, t) != 3;
  function<int(int)> call = [&](int k) { return k + argc; };
  array<int, 3> fixed{1, 2, 3};
  wrong += call(1) != argc + 1 || accumulate(fixed.begin(), fixed.end(), 0) != 6;
  (void)argv;
  std::printf("device_forms: %d wrong\n", wrong);
  return wrong != 0;
}
