// A CUDA runtime without a GPU, for tests of the launch seam in front of it.
//
// Launches are printed with their arguments, which STANDIN_ARGUMENTS (a file, one line a kernel:
// "name x:8 n:4") describes. Every kernel doubles the n floats at x; with STANDIN_WRONG set, those
// of migrated kernels get x[3] wrong. Variables live in the host variable that stands for them.
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::map<const void *, std::string> &functions() {
  static auto &all = *new std::map<const void *, std::string>;
  return all;
}
std::map<uint64_t, size_t> &allocations() {
  static auto &all = *new std::map<uint64_t, size_t>;
  return all;
}

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
std::vector<Configuration> pushed;
bool capturing = false;

std::string line_of(const std::string &kernel) {
  std::ifstream file(getenv("STANDIN_ARGUMENTS") ? getenv("STANDIN_ARGUMENTS") : "");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, kernel.size() + 1, kernel + " ") == 0) return line.substr(kernel.size() + 1);
  return "";
}

cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared) {
  const std::string &name = functions()[function];
  printf("%s (%u, %u, %u) (%u, %u, %u) %zu", name.c_str(), grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
  std::istringstream words(line_of(name));
  float *x = nullptr;
  int n = 0, at = 0;
  for (std::string word; words >> word; ++at) {
    std::string label = word.substr(0, word.find(':'));
    if (word.back() == '8') {
      void *pointer;
      memcpy(&pointer, arguments[at], 8);
      printf(" %s:%s", label.c_str(), pointer ? "set" : "null");
      if (label == "x") x = (float *)pointer;
    } else {
      int value;
      memcpy(&value, arguments[at], 4);
      printf(" %s:%d", label.c_str(), value);
      if (label == "n") n = value;
    }
  }
  puts("");
  for (int i = 0; x && i < n; ++i) x[i] *= 2;
  if (x && getenv("STANDIN_WRONG") && name.compare(0, 3, "tm_") == 0) x[3] += 1;
  return cudaSuccess;
}

int address_range(unsigned long long *base, size_t *bytes, unsigned long long pointer) {
  for (const auto &each : allocations())
    if (pointer - each.first < each.second) return *base = each.first, *bytes = each.second, 0;
  return 1;
}

}  // namespace

extern "C" {

void **__cudaRegisterFatBinary(void *image) { return (void **)new void *(image); }
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }
void __cudaRegisterFunction(void **, const char *host, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *, int *) {
  functions()[host] = name;
}
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int) {}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  *grid = pushed.back().grid, *block = pushed.back().block, *shared = pushed.back().shared;
  memcpy(stream, &pushed.back().stream, sizeof(cudaStream_t));
  pushed.pop_back();
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
  std::string &copy = *new std::string(functions()[host]);
  functions()[&copy] = copy;
  *kernel = (cudaKernel_t)&copy;
  return cudaSuccess;
}

#define LAUNCH(name, type)                                                                       \
  cudaError_t name(type f, dim3 g, dim3 b, void **a, size_t s, cudaStream_t) { return launch((const void *)f, g, b, a, s); }
LAUNCH(cudaLaunchKernel, const void *)
LAUNCH(cudaLaunchKernel_ptsz, const void *)
LAUNCH(__cudaLaunchKernel, cudaKernel_t)
LAUNCH(__cudaLaunchKernel_ptsz, cudaKernel_t)
LAUNCH(cudaLaunchCooperativeKernel, const void *)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, const void *)
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **a) {
  return launch(f, c->gridDim, c->blockDim, a, c->dynamicSmemBytes);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *c, const void *f, void **a) { return cudaLaunchKernelExC(c, f, a); }

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  *pointer = calloc(1, bytes);
  allocations()[(uint64_t)*pointer] = bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) { return memcpy(to, from, bytes), cudaSuccess; }
cudaError_t cudaMemcpyToSymbol(const void *to, const void *from, size_t bytes, size_t, cudaMemcpyKind) {
  return memcpy((void *)to, from, bytes), cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) { return *pointer = (void *)symbol, cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaFuncGetParamInfo(const void *, size_t at, size_t *offset, size_t *bytes) {  // (float *, int)
  return *offset = 8 * at, *bytes = at ? 4 : 8, at < 2 ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) { return *attributes = {}, cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "an error"; }
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return capturing = true, cudaSuccess; }
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t, cudaStreamCaptureMode) { return capturing = true, cudaSuccess; }
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *) { return capturing = false, cudaSuccess; }
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t *) { return capturing = false, cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
  return *status = capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone, cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  *function = (void *)address_range;
  return *result = cudaDriverEntryPointSuccess, cudaSuccess;
}

}  // extern "C"
