// One launch: takes the chosen implementation, or the next where that one does not apply.
#include "launch.h"

#include <stdio.h>

#include "modes.h"

namespace tile_migrate {

namespace {

constexpr int kNoKernelImage = 209;  // cudaErrorNoKernelImageForDevice

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

#pragma GCC visibility pop
}  // extern "C"
