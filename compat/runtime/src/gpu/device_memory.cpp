// Device memory for the modes check and record, and stream captures, during which nothing may wait.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "../launch/memory.h"
#include "gpu.h"

extern "C" {
cudaError_t __real_cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t __real_cudaStreamBeginCapture_ptsz(cudaStream_t, cudaStreamCaptureMode);
cudaError_t __real_cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t __real_cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t *);
}

namespace tile_migrate {

namespace {

std::atomic<int> captures{0};

// cuMemGetAddressRange of the driver that the runtime uses: knows every kind of allocation.
typedef int (*AddressRange)(unsigned long long *base, size_t *bytes, unsigned long long pointer);

AddressRange address_range() {
  static const AddressRange found = [] {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult status;
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, 12000, cudaEnableDefault, &status);
    return error == cudaSuccess && status == cudaDriverEntryPointSuccess ? (AddressRange)function : nullptr;
  }();
  return found;
}

[[noreturn]] void lost(const char *what, cudaError_t error) {
  fprintf(stderr, "tile-migrate: %s device memory for check or record: %s\n", what, cudaGetErrorString(error));
  abort();
}

void copy(void *to, const void *from, size_t bytes, const char *what) {
  cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
  if (error != cudaSuccess) lost(what, error);
}

cudaError_t begun(cudaError_t error) {
  if (error == cudaSuccess) ++captures;
  return error;
}

// An invalidated capture ends too.
cudaError_t ended(cudaError_t error) {
  if (error != cudaErrorIllegalState && captures > 0) --captures;
  return error;
}

__attribute__((destructor)) void write_trace() {
  const char *path = getenv("TILE_MIGRATE_TRACE");
  if (!path || !*path) return;
  FILE *file = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
  if (!file) return;
  std::string text = "{\"event\": \"process\", \"pid\": " + std::to_string(getpid()) + "}\n" + launch_summary();
  fwrite(text.data(), 1, text.size(), file);
  if (file != stderr) fclose(file);
}

}  // namespace

bool capture_active(cudaStream_t stream) {
  if (captures > 0) return true;
  cudaStreamCaptureStatus status;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  cudaGetLastError();
  return true;
}

bool find_allocation(const void *pointer, void **base, size_t *bytes, int *device) {
  unsigned long long start = 0;
  if (!address_range() || address_range()(&start, bytes, (unsigned long long)pointer) != 0 || !start) return false;
  *base = (void *)start;
  *device = 0;  // nobody asks
  return true;
}

bool settle_memory(const tm_launch &launch, std::string *why) {
  if (capture_active((cudaStream_t)launch.stream)) {
    *why = "inside a stream capture";
    return false;
  }
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) *why = cudaGetErrorString(error);
  return error == cudaSuccess;
}

bool may_be_pointer(uint64_t word) { return word >= 1ULL << 32 && word <= 0x7fffffffffffULL; }

const uint8_t *readable(const Region &region, std::vector<uint8_t> *storage) {
  storage->resize(region.bytes);
  copy(storage->data(), region.base, region.bytes, "cannot read");
  return storage->data();
}

Contents read_contents(const std::vector<Region> &regions) {
  Contents contents(regions.size());
  for (size_t i = 0; i < regions.size(); ++i) readable(regions[i], &contents[i]);
  return contents;
}

void write_contents(const std::vector<Region> &regions, const Contents &contents) {
  for (size_t i = 0; i < regions.size(); ++i) copy(regions[i].base, contents[i].data(), regions[i].bytes, "cannot write");
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) lost("cannot write", error);
}

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {

cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begun(__real_cudaStreamBeginCapture(stream, mode));
}
cudaError_t __wrap_cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begun(__real_cudaStreamBeginCapture_ptsz(stream, mode));
}
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  return ended(__real_cudaStreamEndCapture(stream, graph));
}
cudaError_t __wrap_cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph) {
  return ended(__real_cudaStreamEndCapture_ptsz(stream, graph));
}

}  // extern "C"
