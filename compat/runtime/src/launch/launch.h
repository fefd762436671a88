// The launch seam inside the runtime: kernels by name and host function, and how a launch runs.
#ifndef TM_LAUNCH_INTERNAL_H
#define TM_LAUNCH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include <atomic>
#include <string>
#include <vector>

#include "tm_launch.h"

namespace tile_migrate {

constexpr int kKinds = 4;
extern const char *const kKindNames[kKinds];

// What the switches of the environment say about one kernel.
struct Choice {
  int order[kKinds];  // kinds to try, first to last
  int count;
  bool check, record;
};

// All implementations of one kernel. Never destroyed.
struct Kernel {
  std::string name;       // mangled
  std::string signature;  // demangled, without parameters: "ns::scale<float>"
  std::string qualified;  // "ns::scale"
  std::string plain;      // "scale"
  std::string source;     // tells kernels of one name apart where linkage is internal
  std::atomic<const tm_kernel_record *> records[kKinds] = {};
  std::vector<const tm_kernel_record *> registered[kKinds];  // under the registry's mutex
  std::atomic<const Choice *> choice{nullptr};
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> ran[kKinds] = {}, refused[kKinds] = {};

  // A record that describes parameters and limits: the kept one if there is one. Null: none left.
  const tm_kernel_record *description() const;
  bool matches(const std::string &pattern) const;
};

// Null: no such kernel. Both are lock-free once the kernel is known.
Kernel *find_kernel(const void *host_function);
Kernel *find_kernel_named(const char *mangled);
// For programs that register host functions themselves (__cudaRegisterFunction). False: no kernel
// has the name, or several with internal linkage have.
bool bind_host_function(const void *host_function, const char *mangled);
// Makes find_kernel(address) find this kernel.
void bind_address(const void *address, Kernel &kernel);
// _ZL… and names through an anonymous namespace: other translation units may have the same.
bool has_internal_linkage(const char *mangled);
std::vector<Kernel *> all_kernels();

// Runs a launch to its end on the calling OS thread and the pool; returns a cudaError.
// launch.kernel is Kernel::name.c_str() (any other text of the same name is slower);
// launch.number is filled in here.
int run_launch(const tm_launch &launch, void **arguments);

// Launches must not overlap with anything else that writes device memory (modes check and record).
bool launches_are_synchronous();

// From the environment, once.
const Choice &choice_of(Kernel &kernel);

// One JSON object a kernel that was launched: counts by kind.
std::string launch_summary();

// Of the program's memory (the cudart side defines these).
bool find_allocation(const void *pointer, void **base, size_t *bytes, int *device) __attribute__((weak));
typedef void (*SymbolVisitor)(void *context, const char *name, void *address, size_t bytes);
void visit_symbols(SymbolVisitor visit, void *context) __attribute__((weak));
int symbol_element(const char *name) __attribute__((weak));  // enum tm_element

}  // namespace tile_migrate

#endif
