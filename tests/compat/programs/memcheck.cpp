// Kernels that touch what they must not; built with -fsanitize=thread, without that library.
#include "harness.h"

__global__ void copy(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = x[i < n ? i : 0];  // out of bounds
}
__global__ void wide(const char *x, float4 *y) {
  y[threadIdx.x] = *(const float4 *)(x + 4 * threadIdx.x);  // misaligned
}
__global__ void fixed(const float *x, float *y) {
  __shared__ float s[32];
  if (threadIdx.x < 16) s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];  // uninitialised
}
__global__ void dynamic(float *y) {
  float *s = (float *)tm_dynamic_shared();
  s[threadIdx.x] = 1;  // beyond
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
__constant__ float table[4] = {1, 2, 3, 4};
struct Pair {
  const float *x;
  int n;
};
__global__ void right(Pair pair, float *y, int *count) {
  __shared__ float s[32];
  float local[4];
  for (int i = 0; i < 4; ++i) local[i] = table[i] * pair.n;
  s[threadIdx.x] = pair.x[threadIdx.x] + local[threadIdx.x % 4];
  __syncthreads();
  y[threadIdx.x] = s[31 - threadIdx.x];
  atomicAdd(count, 1);
  atomicCAS(count, 0, 5);
  __threadfence();
}
__global__ void add_at(int *count, int i) { atomicAdd(count + i, 1); /* atomic */ }

static tm_kernel_record record{};
static int last(const char *name, int error) {
  printf("%s %d\n", name, error);
  return error;
}
template <auto F, class... A>
static int launched(const char *name, tm_launch launch, A... arguments) {
  static tm_parameter parameters[] = {{"", sizeof(A), 0, 0, 0}..., {}};
  static tm_kernel_record record{TM_ABI_VERSION, TM_KIND_KEPT, name, nullptr, [](const tm_launch *, void **) { return 0; },
                                 parameters, sizeof...(A), 0, 0, 0, ""};
  tm_register_kernel(&record);
  launch.kernel = name;
  return last(name, run<F>(launch, arguments...));
}

int main() {
  float *x = allocate<float>(100), *y = allocate<float>(100);
  int *count = allocate<int>(1);
  float4 *wide_out = allocate<float4>(32);
  launched<copy>("copy", shape(1, 128), (const float *)x, y, 100);
  launched<wide>("wide", shape(1, 4), (const char *)x, wide_out);
  launched<fixed>("fixed", shape(1, 32), (const float *)x, y);
  launched<::dynamic>("dynamic", shape(1, 64, 128), y);
  launched<right>("right", shape(4, 32), Pair{x, 3}, y, count);
  launched<add_at>("add_at", shape(1, 1), count, 1);
  launched<add_at>("add_at", shape(1, 1), count, 0);
  printf("count %d\n", *count);
  float *host = new float[100];
  launched<copy>("copy", shape(1, 32), (const float *)host, y, 100);
}
