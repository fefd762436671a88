// The runtime library as programs use it: `cudart PART` runs one part and prints what is wrong.
#include <tm_cuda_prelude.h>
#include <tm_rewritten.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#undef printf

static int wrong = 0;
#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) ++wrong, std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
  } while (0)
#define EXPECT_ERROR(call, code)                                                                    \
  do {                                                                                              \
    const cudaError_t got = (call);                                                                 \
    if (got != (code))                                                                              \
      ++wrong, std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(got));   \
  } while (0)
#define OK(call) EXPECT_ERROR(call, cudaSuccess)

__global__ void add(int *data, int n, int amount) {
  TM_KERNEL_ENTRY((add), (int *, int, int), (data, n, amount))
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += amount;
}

__global__ void __launch_bounds__(64, 2) bounded(int *data) {
  TM_KERNEL_ENTRY((bounded), (int *), (data), (64))
  (void)data;
}

__global__ void fault(int *data) {
  TM_KERNEL_ENTRY((fault), (int *), (data))
  *data = 1;
}

__device__ int counter;
__constant__ float weights[4];
__global__ void read_symbols(float *out) {
  TM_KERNEL_ENTRY((read_symbols), (float *), (out))
  out[threadIdx.x] = weights[threadIdx.x] * counter;
}

static void memory() {
  int *device = nullptr, *pinned = nullptr, *managed = nullptr;
  const int n = 1000;
  std::vector<int> host(n), back(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  OK(cudaMalloc(&device, n * sizeof(int)));
  EXPECT(reinterpret_cast<uintptr_t>(device) % 256 == 0);
  OK(cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  OK(cudaMemcpy(back.data(), device, n * sizeof(int), cudaMemcpyDefault));
  EXPECT(back == host);
  OK(cudaMemset(device + 1, 0x01, sizeof(int)));
  OK(cudaMemcpy(back.data(), device, 3 * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 0 && back[1] == 0x01010101 && back[2] == 2);
  OK(cudaMallocHost(&pinned, 64));
  OK(cudaMallocManaged(&managed, 64));
  cudaPointerAttributes about;
  OK(cudaPointerGetAttributes(&about, device));
  EXPECT(about.type == cudaMemoryTypeDevice && about.device == 0);
  OK(cudaPointerGetAttributes(&about, pinned));
  EXPECT(about.type == cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&about, managed));
  EXPECT(about.type == cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&about, host.data()));
  EXPECT(about.type == cudaMemoryTypeUnregistered);
  EXPECT(tm_extent(device + 10) == (n - 10) * sizeof(int));

  char *rows = nullptr, text[] = "abcdefgh", copied[9] = {};
  size_t pitch = 0;
  OK(cudaMallocPitch(&rows, &pitch, 4, 2));
  EXPECT(pitch >= 4);
  OK(cudaMemcpy2D(rows, pitch, text, 4, 4, 2, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(copied, 4, rows, pitch, 4, 2, cudaMemcpyDeviceToHost));
  EXPECT(std::strcmp(copied, text) == 0);

  EXPECT_ERROR(cudaMemcpy(device, host.data(), n * sizeof(int) + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(device, host.data(), 4, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
  size_t unused = 0, total = 0;
  OK(cudaMemGetInfo(&unused, &total));
  EXPECT(unused <= total);
  void *huge = nullptr;
  EXPECT_ERROR(cudaMalloc(&huge, total + 1), cudaErrorMemoryAllocation);
  EXPECT_ERROR(cudaFree(device + 1), cudaErrorInvalidValue);
  OK(cudaFree(device));
  EXPECT_ERROR(cudaFree(device), cudaErrorInvalidValue);
  OK(cudaFree(nullptr));
  OK(cudaFree(managed));
  OK(cudaFree(rows));
  OK(cudaFreeHost(pinned));
}

static void late(void *order) {
  usleep(20000);
  static_cast<std::atomic<int> *>(order)->fetch_add(1);
}

static void streams() {
  cudaStream_t first, second;
  cudaEvent_t ready, start, stop;
  OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  OK(cudaEventCreate(&ready, cudaEventDisableTiming));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  std::atomic<int> order{0};
  int *data = nullptr, result = 0;
  OK(cudaMalloc(&data, sizeof(int)));
  OK(cudaMemset(data, 0, sizeof(int)));
  OK(cudaDeviceSynchronize());
  OK(cudaEventRecord(start, first));
  OK(cudaLaunchHostFunc(first, late, &order));
  EXPECT_ERROR(cudaStreamQuery(first), cudaErrorNotReady);
  TM_LAUNCH((add), (1, 1, 0, first), (data, 1, 5));
  OK(cudaEventRecord(ready, first));
  EXPECT_ERROR(cudaEventQuery(ready), cudaErrorNotReady);
  OK(cudaEventRecord(stop, first));
  OK(cudaStreamWaitEvent(second, ready));
  TM_LAUNCH((add), (1, 1, 0, second), (data, 1, 100));
  OK(cudaMemcpyAsync(&result, data, sizeof(int), cudaMemcpyDeviceToHost, second));
  OK(cudaStreamSynchronize(second));
  EXPECT(order.load() == 1 && result == 105);
  OK(cudaEventSynchronize(stop));
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 19 && milliseconds < 5000);
  EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, start, ready), cudaErrorInvalidResourceHandle);

  // The default stream waits for blocking streams.
  cudaStream_t blocking;
  OK(cudaStreamCreate(&blocking));
  OK(cudaLaunchHostFunc(blocking, late, &order));
  TM_LAUNCH((add), (1, 1), (data, 1, 1));
  OK(cudaMemcpy(&result, data, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(order.load() == 2 && result == 106);
  OK(cudaStreamDestroy(blocking));
  EXPECT_ERROR(cudaStreamSynchronize(blocking), cudaErrorInvalidResourceHandle);
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  OK(cudaEventDestroy(ready));
  EXPECT_ERROR(cudaEventDestroy(ready), cudaErrorInvalidResourceHandle);
}

static void errors() {
  int device = -1;
  EXPECT_ERROR(cudaSetDevice(1000), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
  OK(cudaGetLastError());
  OK(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
  EXPECT(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  cudaTextureObject_t texture;
  EXPECT_ERROR(cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr), cudaErrorNotSupported);
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.clockRate > 0 && properties.memoryClockRate > 0);  // until CUDA 12
}

static void launches() {
  int *data = nullptr, host[100] = {};
  OK(cudaMalloc(&data, sizeof host));
  OK(cudaMemset(data, 0, sizeof host));
  cudaGetLastError();
  TM_LAUNCH((add), (2, 64), (data, 100, 3));
  OK(cudaGetLastError());
  TM_LAUNCH((add), (1, 2048), (data, 100, 3));
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  TM_LAUNCH((add), (0, 32), (data, 100, 3));
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  TM_LAUNCH((add), (1, 32, 1 << 20), (data, 100, 3));
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  int n = 100, amount = 4;
  void *arguments[] = {&data, &n, &amount};
  OK(cudaLaunchKernel(add, dim3(2), dim3(64), arguments));
  EXPECT_ERROR(cudaLaunchKernel(&n, dim3(2), dim3(64), arguments), cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaLaunchKernel(static_cast<const void *>(nullptr), dim3(2), dim3(64), arguments),
               cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes = {};
  OK(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT(attributes.maxThreadsPerBlock == 64);
  TM_LAUNCH((bounded), (1, 65), (data));
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  TM_LAUNCH((bounded), (1, 64), (data));
  OK(cudaGetLastError());
  OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int value : host) EXPECT(value == 7);
  int grid = 0, block = 0;
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
  EXPECT(block >= 256 && block <= 1024 && grid >= 1);
}

static void symbols() {
  const float values[4] = {1, 2, 3, 4};
  const int factor = 10;
  float *out = nullptr, host[4] = {};
  size_t bytes = 0;
  void *address = nullptr;
  OK(cudaMemcpyToSymbol(weights, values, sizeof values));
  OK(cudaMemcpyToSymbol(counter, &factor, sizeof factor));
  OK(cudaMalloc(&out, sizeof host));
  TM_LAUNCH((read_symbols), (1, 4), (out));
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) EXPECT(host[i] == values[i] * 10);
  OK(cudaGetSymbolSize(&bytes, weights));
  OK(cudaGetSymbolAddress(&address, weights));
  EXPECT(bytes == 16 && address == weights);
  OK(cudaMemcpyFromSymbol(host, weights, 4, 8));
  EXPECT(host[0] == 3);
  EXPECT_ERROR(cudaMemcpyToSymbol(weights, values, 16, 4), cudaErrorInvalidValue);
  int plain = 0;
  EXPECT_ERROR(cudaGetSymbolSize(&bytes, (const void *)&plain), cudaErrorInvalidSymbol);
}

static void sticky() {
  int *data = nullptr;
  OK(cudaMalloc(&data, 4));
  TM_LAUNCH((fault), (1, 1), (reinterpret_cast<int *>(16)));
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_ERROR(cudaMalloc(&data, 4), cudaErrorIllegalAddress);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
  OK(cudaDeviceReset());
  OK(cudaMalloc(&data, 4));
}

static void graphs() {
  cudaStream_t stream, side;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int *data = nullptr, host[2] = {};
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&side));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaMalloc(&data, sizeof host));
  OK(cudaMemset(data, 0, sizeof host));
  OK(cudaDeviceSynchronize());
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  TM_LAUNCH((add), (1, 1, 0, stream), (data, 1, 2));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(side, fork, 0));
  TM_LAUNCH((add), (1, 1, 0, side), (data + 1, 1, 3));
  OK(cudaEventRecord(join, side));
  TM_LAUNCH((add), (1, 1, 0, stream), (data, 1, 10));
  OK(cudaStreamWaitEvent(stream, join, 0));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  EXPECT_ERROR(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureImplicit);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  size_t count = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 3);
  OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 0 && host[1] == 0);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  for (int i = 0; i < 4; ++i) OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 48 && host[1] == 12);
  OK(cudaGraphExecDestroy(exec));
  EXPECT_ERROR(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);

  // Built by hand: the memset, though added later, comes first.
  int n = 2, amount = 1;
  void *arguments[] = {&data, &n, &amount};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)add;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = arguments;
  cudaMemsetParams clear = {};
  clear.dst = data;
  clear.elementSize = 4;
  clear.value = 7;
  clear.width = 2;
  clear.height = 1;
  cudaGraphNode_t adds, clears;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&adds, graph, nullptr, 0, &kernel));
  OK(cudaGraphAddMemsetNode(&clears, graph, nullptr, 0, &clear));
  OK(cudaGraphAddDependencies(graph, &clears, &adds, 1));
  OK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 8 && host[1] == 8);
  OK(cudaGraphAddDependencies(graph, &adds, &clears, 1));
  EXPECT_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
}

int main(int, char **argv) {
  const std::string part = argv[1];
  if (part == "memory") memory();
  else if (part == "streams") streams();
  else if (part == "errors") errors();
  else if (part == "launches") launches();
  else if (part == "symbols") symbols();
  else if (part == "sticky") sticky();
  else if (part == "graphs") graphs();
  else return 2;
  std::fprintf(stderr, "%d wrong\n", wrong);
  return wrong != 0;
}
