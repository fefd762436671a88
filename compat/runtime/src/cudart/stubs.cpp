// Functions that are exported so that programs link, and refused when they are called.
#include "internal.h"

namespace tile_migrate {
namespace {
// Counted under the name that programs call.
template <Api api>
cudaError_t refused() noexcept {
  return refuse(api);
}
}  // namespace
}  // namespace tile_migrate

// Their own signatures do not matter: no argument is read. The symbol differs from the function's
// name since the API's header may declare that one with its arguments.
#define TM_STUB(name)                                                    \
  TM_EXPORT cudaError_t tm_refused_##name(void) __asm__(#name);          \
  TM_EXPORT cudaError_t tm_refused_##name(void) { return tile_migrate::refused<tile_migrate::Api::name>(); }
#include "stubs.inc"
