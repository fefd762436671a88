// The API's types for the runtime's own sources: our headers, without the device language.
#ifndef TM_CUDART_CUDA_TYPES_H
#define TM_CUDART_CUDA_TYPES_H

#include <cstddef>
#include <cstdint>

#define TM_RUNTIME_SOURCES
#include "tm_runtime_types.h"
#include "tm_runtime_functions.h"

#define TM_EXPORT extern "C" __attribute__((visibility("default")))

#endif
