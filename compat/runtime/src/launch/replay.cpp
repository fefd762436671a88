// For tools: a launch of a kernel by its name, and variables by theirs.
#include <string.h>

#include "launch.h"

using namespace tile_migrate;

namespace {

struct Wanted {
  const char *name;
  void *address;
  uint64_t bytes;
};

void take_named(void *context, const char *name, void *address, size_t bytes) {
  auto *wanted = (Wanted *)context;
  if (strcmp(name, wanted->name) == 0) wanted->address = address, wanted->bytes = bytes;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int tm_launch_named(const tm_launch *launch, void **arguments) { return run_launch(*launch, arguments); }

void *tm_find_variable(const char *name, uint64_t *bytes) {
  Wanted wanted{name, nullptr, 0};
  if (visit_symbols) visit_symbols(take_named, &wanted);
  *bytes = wanted.bytes;
  return wanted.address;
}

#pragma GCC visibility pop
}  // extern "C"
