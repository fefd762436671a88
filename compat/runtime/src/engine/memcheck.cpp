// Accesses that no GPU would allow, named by kernel, block, thread and source line.
//
// Kernel code built with -fsanitize=thread, without that sanitizer's library, calls a hook before
// each access; the hooks are here. Checked: bounds of allocations, alignment, and reads of shared
// memory that the block has not written. Not seen: accesses that land in another allocation or in
// another shared array, copies inside library functions, memory from malloc in a kernel (taken for
// host memory, which is an error).
#include "memcheck.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../launch/launch.h"

namespace tile_migrate {

bool memcheck_on = [] {
  const char *text = getenv("TILE_MIGRATE_MEMCHECK");
  return text && strcmp(text, "1") == 0;
}();

namespace {

constexpr int kMisalignedAddress = 716;
constexpr uint64_t kNeighbourhood = 1 << 16;
constexpr size_t kToldUninitialised = 20;

struct Range {
  uint64_t low = 0, high = 0;
  bool holds(uint64_t address, uint64_t bytes) const { return address >= low && address + bytes <= high; }
};
// Shared memory: which bytes the block has written.
struct Shared : Range {
  std::vector<uint8_t> written;
};

struct Checker {
  Executor *executor = nullptr;
  std::vector<Shared> shared;     // dynamic first, then what __shared__ variables lie in
  std::vector<Range> arguments;   // copies of the launch's arguments
  std::vector<Range> modules;     // code and variables of the program
  Range known[4];                 // allocations met last
  unsigned next_known = 0;
};
thread_local Checker checker;

// For each module its segments, and of its thread-local variables those without initial value:
// __shared__ variables have none.
int visit_module(dl_phdr_info *info, size_t, void *) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    uint64_t low = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) checker.modules.push_back(Range{low, low + segment.p_memsz});
    if (segment.p_type != PT_TLS || !info->dlpi_tls_data) continue;
    uint64_t variables = (uint64_t)info->dlpi_tls_data;
    Shared shared;
    shared.low = variables + segment.p_filesz, shared.high = variables + segment.p_memsz;
    checker.modules.push_back(Range{variables, shared.low});
    if (shared.low < shared.high) checker.shared.push_back(shared);
  }
  return 0;
}

void mark_written(uint64_t address, uint64_t bytes) {
  for (Shared &shared : checker.shared)
    if (shared.holds(address, bytes)) {
      memset(&shared.written[address - shared.low], 1, bytes);
      return;
    }
}

// "file:line" of the innermost frame that is not a header of ours; "module+offset" without addr2line.
std::string source_line(const void *code) {
  Dl_info info;
  if (!dladdr(code, &info) || !info.dli_fname) return "unknown code";
  bool fixed = ((const ElfW(Ehdr) *)info.dli_fbase)->e_type == ET_EXEC;
  uint64_t offset = (uint64_t)code - 1 - (fixed ? 0 : (uint64_t)info.dli_fbase);
  char text[64];
  snprintf(text, sizeof text, "%#llx", (unsigned long long)offset);
  std::string result = std::string(info.dli_fname) + "+" + text;
  std::string path = info.dli_fname;
  if (path.find('\'') != std::string::npos) return result;
  if (FILE *lines = popen(("addr2line -i -e '" + path + "' " + text + " 2>/dev/null").c_str(), "r")) {
    char line[4096];
    while (fgets(line, sizeof line, lines)) {
      std::string frame = line;
      frame.erase(std::min(frame.find_first_of(" \n"), frame.size()));
      const char *base = strrchr(frame.c_str(), '/');
      base = base ? base + 1 : frame.c_str();
      if (frame[0] == '?' || frame.empty() || strncmp(base, "tm_", 3) == 0 || strncmp(base, "cuda_", 5) == 0) continue;
      result = frame;
      break;
    }
    pclose(lines);
  }
  return result;
}

void tell(const char *what, uint64_t address, uint32_t bytes, bool write, const std::string &where, const void *code) {
  const Index &t = thread_index, &b = block_index;
  fprintf(stderr, "tile-migrate: memcheck: %s: block (%u,%u,%u), thread (%u,%u,%u): %s: %u-byte %s at %#llx%s\n  at %s\n",
          checker.executor->kernel, b.x, b.y, b.z, t.x, t.y, t.z, what, bytes, write ? "write" : "read",
          (unsigned long long)address, where.c_str(), source_line(code).c_str());
}

bool allocation_of(uint64_t address, Range *range) {
  void *base;
  size_t bytes;
  int device;
  if (!find_allocation || !find_allocation((const void *)address, &base, &bytes, &device)) return false;
  *range = Range{(uint64_t)base, (uint64_t)base + bytes};
  return true;
}

std::string neighbour(uint64_t address) {
  Range range;
  for (uint64_t distance = 1; distance <= kNeighbourhood; distance *= 2) {
    if (address > distance && allocation_of(address - distance, &range))
      return ", " + std::to_string(address - range.high) + " bytes after an allocation of " + std::to_string(range.high - range.low);
    if (allocation_of(address + distance, &range))
      return ", " + std::to_string(range.low - address) + " bytes before an allocation of " + std::to_string(range.high - range.low);
  }
  return ", near no allocation of the device";
}

void read_shared(const Shared &shared, uint64_t address, uint32_t bytes, const void *code) {
  const uint8_t *flags = &shared.written[address - shared.low];
  if (std::all_of(flags, flags + bytes, [](uint8_t flag) { return flag != 0; })) return;
  static std::mutex mutex;
  static std::set<const void *> told;  // one report a place in the code
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (told.size() >= kToldUninitialised || !told.insert(code).second) return;
  }
  tell("shared memory that the block has not written", address, bytes, false, "", code);
}

void check_access(void *pointer, uint32_t bytes, bool write, bool aligned, const void *code) {
  uint64_t address = (uint64_t)pointer;
  Checker &s = checker;
  if (!s.executor || !bytes) return;
  const Fiber *fiber = s.executor->block.running;
  if (Range{(uint64_t)fiber->low(), (uint64_t)fiber->low() + fiber->bytes}.holds(address, bytes)) return;
  if (aligned && address % bytes) {
    tell("misaligned address", address, bytes, write, "", code);
    fail_launch(kMisalignedAddress);
  }
  for (Shared &shared : s.shared) {
    if (!shared.holds(address, bytes)) continue;
    if (write) memset(&shared.written[address - shared.low], 1, bytes);
    else read_shared(shared, address, bytes, code);
    return;
  }
  for (const Range &range : s.known)
    if (range.holds(address, bytes)) return;
  Range found;
  if (allocation_of(address, &found)) {
    if (found.holds(address, bytes)) {
      s.known[s.next_known++ % 4] = found;
      return;
    }
  } else {
    for (const std::vector<Range> *ranges : {&s.modules, &s.arguments})
      for (const Range &range : *ranges)
        if (range.holds(address, bytes)) return;
  }
  const uint64_t area = (uint64_t)s.executor->shared_area;
  bool in_shared = area && address >= area && address < area + s.executor->shared_capacity;
  std::string where = in_shared ? ", " + std::to_string(address - area - s.executor->block.dynamic_bytes) +
                                      " bytes after dynamic shared memory of " + std::to_string(s.executor->block.dynamic_bytes)
                      : found.high ? ", across the end of an allocation of " + std::to_string(found.high - found.low)
                                   : neighbour(address);
  tell("out of bounds", address, bytes, write, where, code);
  fail_launch(kIllegalAddress);
}

// What the check calls may be instrumented itself (inline functions of the program's own copy).
[[maybe_unused]] void check(void *pointer, uint32_t bytes, bool write, bool aligned, const void *code) {
  tm_kernel_depth = 0;
  check_access(pointer, bytes, write, aligned, code);
  tm_kernel_depth = 1;
}

}  // namespace

void memcheck_begin(Executor *executor, const tm_launch &launch, void **arguments) {
  Checker &s = checker;
  s.executor = executor;
  s.shared.clear(), s.modules.clear(), s.arguments.clear();
  for (Range &range : s.known) range = Range();
  Shared dynamic;
  dynamic.low = (uint64_t)executor->shared_area, dynamic.high = dynamic.low + launch.shared_bytes;
  s.shared.push_back(dynamic);
  dl_iterate_phdr(visit_module, nullptr);
  for (Shared &shared : s.shared) shared.written.resize(shared.high - shared.low);
  Kernel *kernel = find_kernel_named(launch.kernel);
  const tm_kernel_record *record = kernel ? kernel->description() : nullptr;
  uint32_t count = record ? record->parameter_count : 0;
  s.arguments.push_back(Range{(uint64_t)arguments, (uint64_t)(arguments + count + 1)});
  for (uint32_t i = 0; i < count; ++i)
    s.arguments.push_back(Range{(uint64_t)arguments[i], (uint64_t)arguments[i] + record->parameters[i].bytes});
}

void memcheck_block() {
  for (Shared &shared : checker.shared) std::fill(shared.written.begin(), shared.written.end(), 0);
  // Not shared memory, though they may lie beside it.
  for (const Index *own : {&thread_index, &block_index, &block_dimensions, &grid_dimensions}) mark_written((uint64_t)own, sizeof *own);
  mark_written((uint64_t)&tm_kernel_depth, sizeof tm_kernel_depth);
}

}  // namespace tile_migrate

// A sanitized build of the runtime itself has the sanitizer's own.
#ifndef __SANITIZE_THREAD__

using tile_migrate::check;
using tile_migrate::memcheck_on;

extern "C" {
#pragma GCC visibility push(default)

#define TM_CODE __builtin_return_address(0)
#define TM_CHECK(POINTER, BYTES, WRITE, ALIGNED)                                              \
  do {                                                                                        \
    if (memcheck_on && tm_kernel_depth) check((void *)(POINTER), (BYTES), WRITE, ALIGNED, TM_CODE); \
  } while (0)
#define TM_HOOKS(SIZE)                                                              \
  void __tsan_read##SIZE(void *p) { TM_CHECK(p, SIZE, false, true); }               \
  void __tsan_write##SIZE(void *p) { TM_CHECK(p, SIZE, true, true); }               \
  void __tsan_unaligned_read##SIZE(void *p) { TM_CHECK(p, SIZE, false, false); }    \
  void __tsan_unaligned_write##SIZE(void *p) { TM_CHECK(p, SIZE, true, false); }    \
  void __tsan_volatile_read##SIZE(void *p) { TM_CHECK(p, SIZE, false, true); }      \
  void __tsan_volatile_write##SIZE(void *p) { TM_CHECK(p, SIZE, true, true); }
TM_HOOKS(1)
TM_HOOKS(2)
TM_HOOKS(4)
TM_HOOKS(8)
TM_HOOKS(16)
void __tsan_read_range(void *p, unsigned long bytes) { TM_CHECK(p, (uint32_t)bytes, false, false); }
void __tsan_write_range(void *p, unsigned long bytes) { TM_CHECK(p, (uint32_t)bytes, true, false); }
void __tsan_vptr_update(void **p, void *) { TM_CHECK(p, 8, true, false); }
void __tsan_vptr_read(void **p) { TM_CHECK(p, 8, false, false); }
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#define TM_ATOMIC_HOOK(BITS, NAME, CALL)                                               \
  uint##BITS##_t __tsan_atomic##BITS##_##NAME(uint##BITS##_t *p, uint##BITS##_t v, int) { \
    TM_CHECK(p, BITS / 8, false, true);                                                \
    return CALL(p, v, __ATOMIC_SEQ_CST);                                               \
  }
#define TM_ATOMIC_HOOKS(BITS)                                                          \
  uint##BITS##_t __tsan_atomic##BITS##_load(const uint##BITS##_t *p, int) {            \
    TM_CHECK(p, BITS / 8, false, true);                                                \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                       \
  }                                                                                    \
  void __tsan_atomic##BITS##_store(uint##BITS##_t *p, uint##BITS##_t v, int) {         \
    TM_CHECK(p, BITS / 8, true, true);                                                 \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                    \
  TM_ATOMIC_HOOK(BITS, exchange, __atomic_exchange_n)                                  \
  TM_ATOMIC_HOOK(BITS, fetch_add, __atomic_fetch_add)                                  \
  TM_ATOMIC_HOOK(BITS, fetch_sub, __atomic_fetch_sub)                                  \
  TM_ATOMIC_HOOK(BITS, fetch_and, __atomic_fetch_and)                                  \
  TM_ATOMIC_HOOK(BITS, fetch_or, __atomic_fetch_or)                                    \
  TM_ATOMIC_HOOK(BITS, fetch_xor, __atomic_fetch_xor)                                  \
  TM_ATOMIC_HOOK(BITS, fetch_nand, __atomic_fetch_nand)                                \
  int __tsan_atomic##BITS##_compare_exchange_strong(uint##BITS##_t *p, uint##BITS##_t *expected, uint##BITS##_t v, \
                                                    int, int) {                        \
    TM_CHECK(p, BITS / 8, false, true);                                                \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                    \
  int __tsan_atomic##BITS##_compare_exchange_weak(uint##BITS##_t *p, uint##BITS##_t *expected, uint##BITS##_t v, \
                                                  int a, int b) {                      \
    return __tsan_atomic##BITS##_compare_exchange_strong(p, expected, v, a, b);        \
  }
TM_ATOMIC_HOOKS(8)
TM_ATOMIC_HOOKS(16)
TM_ATOMIC_HOOKS(32)
TM_ATOMIC_HOOKS(64)

#pragma GCC visibility pop
}  // extern "C"

#endif
