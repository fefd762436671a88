// What the test programs share: kernels as entry functions, launches, checks, and the little of a
// cudart that the launch seam asks for.
#ifndef HARNESS_H
#define HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mutex>
#include <utility>
#include <vector>

#include "tm_cuda_prelude.h"
#include "engine/engine.h"
#include "engine/pool.h"
#include "launch/launch.h"
#include "tm_launch.h"

inline int failures = 0;
#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);   \
      ++failures;                                                         \
    }                                                                     \
  } while (0)

template <class... P, size_t... I>
void call(void (*kernel)(P...), void **arguments, std::index_sequence<I...>) {
  kernel(*(std::remove_reference_t<P> *)arguments[I]...);
}
template <auto F>
struct Entry;
template <class... P, void (*F)(P...)>
struct Entry<F> {
  static void run(void **arguments) { call(F, arguments, std::index_sequence_for<P...>()); }
};

inline tm_launch shape(dim3 grid, dim3 block, size_t shared_bytes = 0, bool cooperative = false) {
  tm_launch launch{};
  launch.grid[0] = grid.x, launch.grid[1] = grid.y, launch.grid[2] = grid.z;
  launch.block[0] = block.x, launch.block[1] = block.y, launch.block[2] = block.z;
  launch.shared_bytes = shared_bytes;
  launch.cooperative = cooperative;
  launch.kernel = "test";
  return launch;
}

template <auto F, class... A>
int run_flagged(unsigned flags, tm_launch launch, A... arguments) {
  void *pointers[] = {(void *)&arguments..., nullptr};
  return tm_run_threads(&launch, Entry<F>::run, pointers, flags);
}
template <auto F, class... A>
int run(tm_launch launch, A... arguments) {
  return run_flagged<F>(0, launch, arguments...);
}

// What cudart would do.
struct Block {
  uint8_t *base;
  size_t bytes;
};
inline std::vector<Block> allocations;
inline std::vector<std::pair<const char *, Block>> symbols;
template <class T>
T *allocate(size_t count) {
  T *memory = (T *)calloc(count, sizeof(T));
  allocations.push_back(Block{(uint8_t *)memory, count * sizeof(T)});
  return memory;
}
namespace tile_migrate {
bool find_allocation(const void *pointer, void **base, size_t *bytes, int *device) {
  for (const Block &block : allocations)
    if ((const uint8_t *)pointer >= block.base && (const uint8_t *)pointer < block.base + block.bytes) {
      *base = block.base, *bytes = block.bytes, *device = 0;
      return true;
    }
  return false;
}
void visit_symbols(SymbolVisitor visit, void *context) {
  for (auto &[name, block] : symbols) visit(context, name, block.base, block.bytes);
}
}  // namespace tile_migrate

inline cudaError_t last_error = cudaSuccess;
extern "C" cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                        cudaStream_t) {
  tile_migrate::Kernel *kernel = tile_migrate::find_kernel(function);
  if (!kernel) return last_error = (cudaError_t)98;
  tm_launch launch = shape(grid, block, shared_bytes);
  launch.kernel = kernel->name.c_str();
  return last_error = (cudaError_t)tile_migrate::run_launch(launch, arguments);
}

#endif
