// One launch: takes the chosen implementation, or the next where that one does not apply.
#include "launch.h"

#include <stdio.h>

#include "../engine/engine.h"
#include "modes.h"

struct CudaDimensions {
  unsigned x, y, z;
};
// The public entry, so that a program's launches through every door are validated and ordered alike.
extern "C" int cudaLaunchKernel(const void *function, CudaDimensions grid, CudaDimensions block, void **arguments,
                                size_t shared_bytes, void *stream) __attribute__((weak, visibility("default")));

namespace tile_migrate {

namespace {

struct Configuration {
  CudaDimensions grid, block;
  uint64_t shared_bytes;
  void *stream;
};
thread_local std::vector<Configuration> pushed;

int no_implementation(const tm_launch &launch) {
  static std::atomic<int> told{0};
  if (told.fetch_add(1) < 10)
    fprintf(stderr, "tile-migrate: no implementation of kernel %s for these switches and arguments\n",
            launch.kernel ? launch.kernel : "(unknown)");
  return kNoKernelImage;
}

}  // namespace

int run_implementation(Kernel &kernel, int kind, const tm_launch &launch, void **arguments) {
  const tm_kernel_record *record = kernel.records[kind].load(std::memory_order_acquire);
  if (!record) return TM_NOT_APPLICABLE;
  int error = record->implementation(&launch, arguments);
  auto &counter = error == TM_NOT_APPLICABLE ? kernel.refused[kind] : kernel.ran[kind];
  counter.fetch_add(1, std::memory_order_relaxed);
  return error;
}

int run_chosen(Kernel &kernel, const Choice &choice, const tm_launch &launch, void **arguments) {
  for (int i = 0; i < choice.count; ++i) {
    int error = run_implementation(kernel, choice.order[i], launch, arguments);
    if (error != TM_NOT_APPLICABLE) return error;
  }
  return no_implementation(launch);
}

int run_launch(const tm_launch &launch, void **arguments) {
  Kernel *kernel = find_kernel_named(launch.kernel);
  if (!kernel) return no_implementation(launch);
  const Choice &choice = choice_of(*kernel);
  tm_launch numbered = launch;
  numbered.kernel = kernel->name.c_str();
  numbered.number = kernel->launches.fetch_add(1, std::memory_order_relaxed) + 1;
  if (__builtin_expect(choice.check, 0)) return run_checked(*kernel, choice, numbered, arguments);
  if (__builtin_expect(choice.record, 0)) return run_recorded(*kernel, choice, numbered, arguments);
  return run_chosen(*kernel, choice, numbered, arguments);
}

std::string launch_summary() {
  std::string text;
  for (Kernel *kernel : all_kernels()) {
    if (!kernel->launches.load()) continue;
    text += "{\"event\": \"kernel\", \"kernel\": " + json_text(kernel->signature) + ", \"mangled\": " + json_text(kernel->name) +
            ", \"launches\": " + std::to_string(kernel->launches.load());
    for (const char *field : {"ran", "not_applicable"}) {
      const auto &counts = *field == 'r' ? kernel->ran : kernel->refused;
      std::string inner;
      for (int kind = 0; kind < kKinds; ++kind)
        if (uint64_t n = counts[kind].load())
          inner += std::string(inner.empty() ? "" : ", ") + "\"" + kKindNames[kind] + "\": " + std::to_string(n);
      text += std::string(", \"") + field + "\": {" + inner + "}";
    }
    text += "}\n";
  }
  return text;
}

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {
#pragma GCC visibility push(default)

uint64_t tm_extent(const void *pointer) {
  void *base;
  size_t bytes;
  int device;
  if (!find_allocation || !find_allocation(pointer, &base, &bytes, &device)) return 0;
  return (uint64_t)((uint8_t *)base + bytes - (const uint8_t *)pointer);
}

int tm_push_configuration(uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
                          uint64_t shared_bytes, void *stream) {
  if (tm_kernel_depth) {
    fprintf(stderr, "tile-migrate: a kernel launches a kernel: dynamic parallelism is not supported\n");
    fail_launch(kNotSupported);
  }
  pushed.push_back(Configuration{{gx, gy, gz}, {bx, by, bz}, shared_bytes, stream});
  return 0;
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
