// Launches in every place that C++ and the preprocessor have for an expression of type void.
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

__global__ void add(int *x, int value) { atomicAdd(x, value); }
__global__ void add_default(int *x, int value = 7) { atomicAdd(x, value); }
template <class T, int N = 3> __global__ void add_n(T *x) { atomicAdd(x, (T)N); }
template <class A, class B> __global__ void add_pair(int *x, A a, B b) { atomicAdd(x, (int)(a + b)); }
template <bool Twice> __global__ void add_flag(int *x) { atomicAdd(x, Twice ? 2 : 1); }

#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define LAUNCH_1(kernel, ...) LAUNCH(kernel, 1, 1, __VA_ARGS__)
#define CHECKED(...)                                     \
  do {                                                   \
    __VA_ARGS__;                                         \
    if (cudaGetLastError() != cudaSuccess) ++bad;        \
  } while (0)
#define KERNEL add
#define SHAPE 1, 1
#define ARGUMENTS (x, 1)
#define CONFIGURATION <<<1, 1>>>
#define PASTE(a, b) a##_##b<<<1, 1>>>
#define SEVERAL(x)       \
  add<<<1, 1>>>(x, 1);   \
  add<<<1, 1>>>(x, 1)
#define IDENTITY(...) __VA_ARGS__

static int bad = 0;

template <class T> struct Owner {
  T *x;
  explicit Owner(T *p) : x(p) { add_n<T><<<1, 1>>>(x); }
  void again() { add_n<T, 4><<<1, 1>>>(this->x); }
  template <int N> void some() { add_n<T, N><<<dim3(1), dim3(1)>>>(x); }
  ~Owner() { add_n<T, 1><<<1, 1>>>(x); }
};

template <class... A> void forward_launch(void (*kernel)(A...), A... arguments) {
  kernel<<<1, 1>>>(arguments...);
}
template <auto Kernel, class... A> void static_launch(A &&...a) { Kernel<<<1, 1>>>(std::forward<A>(a)...); }

struct Table {
  void (*run)(int *, int);
  void (*operator[](int) const)(int *, int) { return run; }
};

struct Holder {
  int *x;
  Holder *next() { return this; }
  void (*kernel() const)(int *, int) { return &add; }
};

static int grid_of(int a, int b) { return a * b; }

int main() {
  int *x, host = 0, expected = 0, n = 1;
  cudaMalloc(&x, sizeof *x);
  cudaMemset(x, 0, sizeof *x);
  cudaStream_t stream;
  cudaStreamCreate(&stream);

  add<<<1, 1>>>(x, 1); expected += 1;
  add <<< 1 , 1 >>> ( x , 1 ) ; expected += 1;
  add<<<1,
        1>>>(x,
             1);
  expected += 1;
  add/* a */<<</* b */1,/* c > */1/* d */>>>/* e */(x, /* f) */ 1); expected += 1;
  add // one line
      <<<1, 1>>> // another >>> (
      (x, 1);
  expected += 1;
  add<<<dim3{1, 1}, dim3{1, 1, 1}, 0, stream>>>(x, 1); expected += 1;
  cudaStreamSynchronize(stream);
  add<<<(n > 0 ? 1 : 2), n < 2 ? 1 : 3>>>(x, 1); expected += 1;
  add<<<grid_of(1, 1), 8 >> 3>>>(x, 1); expected += 1;
  add<<<[&] { return n; }(), [](int a, int b) { return a < b ? b : a; }(0, 1)>>>(x, 1); expected += 1;
  add<<<std::pair<int, int>{1, 2}.first, std::vector<int>{1, 2}[0]>>>(x, std::initializer_list<int>{1, 2}.size());
  expected += 2;
  add<<<1, 1>>>(x, [](int a, int b) { return a + b; }(1, 2)); expected += 3;
  add<<<1, 1>>>(x, std::map<int, std::pair<int, int>>{{1, {2, 3}}}[1].second); expected += 3;
  add_pair<long, std::pair<int, short>::second_type><<<1, 1>>>(x, 1L, (short)2); expected += 3;
  add_pair<std::map<int, int>::mapped_type, int><<<1, 1>>>(x, 1, 2); expected += 3;
  add_flag<(3 > 2)><<<1, 1>>>(x); expected += 2;
  add_flag<(sizeof(int) < 2)><<<1, 1>>>(x); expected += 1;
  add_flag<!true> <<<1, 1>>>(x); expected += 1;
  add_n<int><<<1, 1>>>(x); expected += 3;
  add_n<int, (1 << 2)><<<1, 1>>>(x); expected += 4;
  ::add<<<1, 1>>>(x, 1); expected += 1;
  (add)<<<1, 1>>>(x, 1); expected += 1;
  (*add)<<<1, 1>>>(x, 1); expected += 1;
  (&add)<<<1, 1>>>(x, 1); expected += 1;
  (n ? add : &add)<<<1, 1>>>(x, 1); expected += 1;
  Table table{add};
  table.run<<<1, 1>>>(x, 1); expected += 1;
  table[0]<<<1, 1>>>(x, 1); expected += 1;
  (&table)->run<<<1, 1>>>(x, 1); expected += 1;
  Holder holder{x};
  holder.next()->kernel()<<<1, 1>>>(holder.x, 1); expected += 1;
  auto picked = +[] { return &add; };
  picked()<<<1, 1>>>(x, 1); expected += 1;
  static_cast<void (*)(int *, int)>(add)<<<1, 1>>>(x, 1); expected += 1;
  reinterpret_cast<void (*)(int *, int)>(&add_default)<<<1, 1>>>(x, 2); expected += 2;
  add_default<<<1, 1>>>(x); expected += 7;
  using namespace std;

  if (n) add<<<1, 1>>>(x, 1); else add<<<1, 1>>>(x, 100);
  expected += 1;
  if (!n)
    add<<<1, 1>>>(x, 100);
  else
    add<<<1, 1>>>(x, 1);
  expected += 1;
  for (int i = 0; i < 3; ++i) add<<<1, 1>>>(x, i);
  expected += 3;
  for (int value : {1, 2, 3}) add<<<1, 1>>>(x, value);
  expected += 6;
  for (int i = 0; i < 2; ++i, add<<<1, 1>>>(x, 1)) {}
  expected += 2;
  while (n) add<<<1, 1>>>(x, n--);
  expected += 1;
  n = 1;
  do add<<<1, 1>>>(x, 1); while (--n > 0);
  expected += 1;
  n = 1;
  switch (n) {
    case 0: add<<<1, 1>>>(x, 100); break;
    case 1: add<<<1, 1>>>(x, 1); break;
    default: add<<<1, 1>>>(x, 100);
  }
  expected += 1;
  n ? add<<<1, 1>>>(x, 1) : add<<<1, 1>>>(x, 100); expected += 1;
  n ? (void)(add<<<1, 1>>>(x, 1)) : (void)0; expected += 1;
  add<<<1, 1>>>(x, 1), add<<<1, 1>>>(x, 2); expected += 3;
  (add<<<1, 1>>>(x, 1)); expected += 1;
  [&] { add<<<1, 1>>>(x, 1); }(); expected += 1;
  auto later = [=](int value) { return add<<<1, 1>>>(x, value); };
  later(4); expected += 4;
  if (int value = 2; value > 1) add<<<1, 1>>>(x, value);
  expected += 2;
  if constexpr (sizeof(int) == 4) add<<<1, 1>>>(x, 1);
  expected += 1;
  try { add<<<1, 1>>>(x, 1); } catch (...) { ++bad; }
  expected += 1;
  goto there;
there:
  add<<<1, 1>>>(x, 1); expected += 1;

  LAUNCH(add, 1, 1, x, 1); expected += 1;
  LAUNCH_1(add, x, 1); expected += 1;
  LAUNCH((add_pair<int, int>), 1, dim3(1, 1), x, 1, 1); expected += 2;
  LAUNCH_1((add_n<int, 5>), x); expected += 5;
  CHECKED(add<<<1, 1>>>(x, 1)); expected += 1;
  CHECKED(LAUNCH_1(add, x, 1)); expected += 1;
  CHECKED(CHECKED(add<<<dim3(1, 1), 1>>>(x, 1); add<<<1, 1>>>(x, 1))); expected += 2;
  IDENTITY(add<<<1, 1>>>(x, 1)); expected += 1;
  IDENTITY(IDENTITY(add)<<<1, 1>>>(x, 1)); expected += 1;
  KERNEL<<<SHAPE>>>ARGUMENTS; expected += 1;
  KERNEL CONFIGURATION (x, 1); expected += 1;
  PASTE(add, default)(x, 1); expected += 1;
  SEVERAL(x); expected += 2;

  { Owner<int> owner(x); owner.again(); owner.some<2>(); owner.template some<6>(); }
  expected += 3 + 4 + 2 + 6 + 1;
  auto heap = std::make_unique<Owner<int>>(x);
  heap.reset();
  expected += 4;
  forward_launch(add, x, 3); expected += 3;
  forward_launch<int *, int>(add, x, 3); expected += 3;
  static_launch<add>(x, 2); expected += 2;
  static_launch<&add_n<int, 8>>(x); expected += 8;

  int value = 5;
  void *arguments[] = {&x, &value};
  cudaLaunchKernel((const void *)add, dim3(1), dim3(1), arguments, 0, nullptr); expected += 5;
  cudaLaunchKernel(add, dim3(1), dim3(1), arguments, 0, stream); expected += 5;
  cudaStreamSynchronize(stream);

  bad += cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost);
  bad += host != expected;
  const char *text = "add<<<1, 1>>>(x, 1); /* "; const char quote = '"'; // add<<<1, 1>>>(x, 1)
  const char *raw = R"(add<<<1, 1>>>(x, 1); "quoted" )";
  bad += quote != '"' || text[3] != '<' || raw[3] != '<';
  cudaFree(x);
  std::printf("launch_forms: %d wrong\n", bad);
  return bad != 0;
}
