// Every way a program launches and every kind of memory it passes, and what a launch costs the host.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <chrono>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                \
      printf("%s: %s\nseam: failed\n", #call, cudaGetErrorString(error_));                      \
      return 1;                                                                                 \
    }                                                                                           \
  } while (0)

constexpr int kCount = 1000;
__device__ int in_module[kCount];
__constant__ int step = 1;
__managed__ int shared_step = 2;

__global__ void add_step(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += step;
}

__global__ void add_managed(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += shared_step;
}

__global__ void nothing(int *x, int n) {
  if (n < 0) x[0] = n;
}

static bool all_equal(const int *device, int value, const char *what) {
  std::vector<int> host(kCount);
  cudaMemcpy(host.data(), device, kCount * sizeof(int), cudaMemcpyDefault);
  for (int i = 0; i < kCount; ++i)
    if (host[i] != value) {
      printf("%s: element %d is %d, not %d\nseam: failed\n", what, i, host[i], value);
      return false;
    }
  printf("%s: right\n", what);
  return true;
}

int main(int argc, char **argv) {
  const int blocks = (kCount + 127) / 128;
  const size_t bytes = kCount * sizeof(int);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  struct { const char *name; int *memory; } kinds[6] = {{"device", nullptr}, {"managed", nullptr}, {"pinned", nullptr}, {"asynchronous", nullptr}, {"variable", nullptr}, {"interior", nullptr}};
  CHECK(cudaMalloc(&kinds[0].memory, bytes));
  CHECK(cudaMallocManaged(&kinds[1].memory, bytes));
  CHECK(cudaMallocHost(&kinds[2].memory, bytes));
  CHECK(cudaMallocAsync(&kinds[3].memory, bytes, stream));
  CHECK(cudaGetSymbolAddress((void **)&kinds[4].memory, in_module));
  CHECK(cudaMalloc(&kinds[5].memory, bytes + 64));
  kinds[5].memory += 16;
  CHECK(cudaStreamSynchronize(stream));
  for (auto &kind : kinds) {
    CHECK(cudaMemset(kind.memory, 0, bytes));
    CHECK(cudaDeviceSynchronize());
    add_step<<<blocks, 128, 0, stream>>>(kind.memory, kCount);
    add_managed<<<blocks, 128>>>(kind.memory, kCount);
    CHECK(cudaDeviceSynchronize());
    if (!all_equal(kind.memory, 3, kind.name)) return 1;
  }

  int *x = kinds[0].memory, n = kCount, more = 5;
  void *arguments[] = {&x, &n};
  CHECK(cudaMemcpyToSymbol(step, &more, sizeof more));
  CHECK(cudaLaunchKernel((const void *)add_step, dim3(blocks), dim3(128), arguments, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (!all_equal(x, 8, "cudaLaunchKernel")) return 1;
  CHECK(cudaLaunchCooperativeKernel((const void *)add_step, dim3(blocks), dim3(128), arguments, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (!all_equal(x, 13, "cudaLaunchCooperativeKernel")) return 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks), config.blockDim = dim3(128), config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, add_step, x, n));
  CHECK(cudaStreamSynchronize(stream));
  if (!all_equal(x, 18, "cudaLaunchKernelEx")) return 1;
  auto through_pointer = &add_step;
  through_pointer<<<blocks, 128>>>(x, n);
  CHECK(cudaDeviceSynchronize());
  if (!all_equal(x, 23, "function pointer")) return 1;
  add_step<<<blocks, 192>>>(x, n);
  CHECK(cudaDeviceSynchronize());
  if (!all_equal(x, 28, "another block")) return 1;

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) add_step<<<blocks, 128, 0, stream>>>(x, n);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (!all_equal(x, 58, "graph")) return 1;

  add_step<<<blocks, 2048>>>(x, n);
  cudaError_t wrong = cudaGetLastError();
  printf("a block of 2048: %s\n", cudaGetErrorName(wrong));
  if (wrong == cudaSuccess || cudaGetLastError() != cudaSuccess) return puts("seam: failed"), 1;

  const int launches = argc > 1 && !strcmp(argv[1], "time") ? 100000 : 100;
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    CHECK(cudaDeviceSynchronize());
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) nothing<<<1, 32>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    double each = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / launches;
    if (each < best) best = each;
  }
  if (launches > 1000) printf("an empty launch takes %.0f ns\n", best);
  puts("seam: passed");
  return 0;
}
