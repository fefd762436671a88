// The seam's doors of rewritten launches: `k<<<…>>>(x)` became a push and a call of k on the host.
#include <stdio.h>

#include <mutex>
#include <set>
#include <string>

#include "../engine/engine.h"
#include "launch.h"

struct CudaDimensions {
  unsigned x, y, z;
};
// The public entry, so that a program's launches through every door are validated and ordered alike.
extern "C" int cudaLaunchKernel(const void *function, CudaDimensions grid, CudaDimensions block, void **arguments,
                                size_t shared_bytes, void *stream) __attribute__((weak, visibility("default")));

namespace {

struct Configuration {
  CudaDimensions grid, block;
  uint64_t shared_bytes;
  void *stream;
};
thread_local std::vector<Configuration> pushed;

}  // namespace

using namespace tile_migrate;

extern "C" {
#pragma GCC visibility push(default)

int tm_push_configuration(uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
                          uint64_t shared_bytes, void *stream) {
  if (tm_kernel_depth) {
    fprintf(stderr, "tile-migrate: a kernel launches a kernel: dynamic parallelism is not supported\n");
    fail_launch(kNotSupported);
  }
  pushed.push_back(Configuration{{gx, gy, gz}, {bx, by, bz}, shared_bytes, stream});
  return 0;
}

void tm_tell_refused(const char *what) {
  static std::mutex telling;
  static std::set<std::string> told;
  std::lock_guard<std::mutex> lock(telling);
  if (told.insert(what).second)
    fprintf(stderr, "tile-migrate: a kernel uses %s, which does not execute here: its launch fails\n", what);
}

int tm_launch_pushed(const void *host_function, void **arguments) {
  if (pushed.empty()) return kInvalidConfiguration;
  Configuration c = pushed.back();
  pushed.pop_back();
  if (!cudaLaunchKernel) return kNotSupported;
  return cudaLaunchKernel(host_function, c.grid, c.block, arguments, c.shared_bytes, c.stream);
}

#pragma GCC visibility pop
}  // extern "C"
