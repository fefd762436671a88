// The last error of each thread, names and texts of errors.
#include "internal.h"
#include "trace.h"

namespace tile_migrate {

namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
  int code;
  const char *name, *text;
};

constexpr ErrorText error_texts[] = {
#define TM_ERROR(name, code, text) {code, #name, text},
#include "errors.inc"
#undef TM_ERROR
};

const ErrorText *text_of(cudaError_t error) {
  for (const ErrorText &entry : error_texts)
    if (entry.code == error) return &entry;
  return nullptr;
}

}  // namespace

void set_last_error(cudaError_t error) noexcept { last_error = error; }

cudaError_t leave(Api api, cudaError_t error) noexcept {
  count_call(api, error);
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t refuse(Api api) noexcept { return leave(api, cudaErrorNotSupported); }

}  // namespace tile_migrate

using namespace tile_migrate;

TM_EXPORT cudaError_t cudaGetLastError(void) {
  count_call(Api::cudaGetLastError, cudaSuccess);
  const cudaError_t fault = device_fault();
  if (fault != cudaSuccess) return fault;
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

TM_EXPORT cudaError_t cudaPeekAtLastError(void) {
  count_call(Api::cudaPeekAtLastError, cudaSuccess);
  const cudaError_t fault = device_fault();
  return fault != cudaSuccess ? fault : last_error;
}

TM_EXPORT const char *cudaGetErrorName(cudaError_t error) {
  count_call(Api::cudaGetErrorName, cudaSuccess);
  const ErrorText *entry = text_of(error);
  return entry ? entry->name : "unrecognized error code";
}

TM_EXPORT const char *cudaGetErrorString(cudaError_t error) {
  count_call(Api::cudaGetErrorString, cudaSuccess);
  const ErrorText *entry = text_of(error);
  return entry ? entry->text : "unrecognized error code";
}
