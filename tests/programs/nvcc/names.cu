// What nvcc calls entities of one file, and what g++ calls them: static, unnamed and qualified ones.
#include <cstdio>

namespace ns {
__device__ int inner[4];
__constant__ float added = 2.5f;
}  // namespace ns
static __device__ int hidden = 3;
__managed__ int count = 7;

namespace {
__device__ int unnamed = 4;
__global__ void read_unnamed(int *out) { *out = unnamed; }
}  // namespace

static __global__ void read_hidden(int *out) {
  *out = hidden;
  count++;
}

template <class T>
__global__ void add(T *out, T value) {
  *out = value + ns::added;
  ns::inner[2] = int(*out);
}

extern "C" __global__ void plain(int *out) { *out += 9; }

static int wrong = 0;
static void expect(const char *what, double got, double wanted) {
  if (got == wanted) return;
  ++wrong;
  std::printf("%s: %g instead of %g\n", what, got, wanted);
}

int main() {
  int *memory = nullptr, value = 0;
  float sum = 0;
  cudaMalloc(&memory, 64);
  auto fetch = [&] { cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost); };
  read_hidden<<<1, 1>>>(memory);
  fetch();
  expect("static variable", value, 3);
  expect("managed variable", count, 8);
  value = 30;
  cudaMemcpyToSymbol(hidden, &value, sizeof value);
  read_hidden<<<1, 1>>>(memory);
  plain<<<1, 1>>>(memory);
  fetch();
  expect("static variable, written", value, 39);
  read_unnamed<<<1, 1>>>(memory);
  fetch();
  expect("variable of an unnamed namespace", value, 4);
  const float more = 10;
  cudaMemcpyToSymbol(ns::added, &more, sizeof more);
  add<float><<<1, 1>>>(reinterpret_cast<float *>(memory), 0.5f);
  cudaMemcpy(&sum, memory, sizeof sum, cudaMemcpyDeviceToHost);
  expect("constant", sum, 10.5);
  cudaMemcpyFromSymbol(&value, ns::inner, sizeof value, 2 * sizeof value);
  expect("element of a qualified variable", value, 10);
  expect("error", cudaGetLastError(), cudaSuccess);
  std::printf("names: %d wrong\n", wrong);
  return wrong != 0;
}
