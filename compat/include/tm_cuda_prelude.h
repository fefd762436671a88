// Own declarations of CUDA C++ as a language extension. One text for two compilers: libclang reads it
// in CUDA mode (declarations only), g++ reads it as C++ (with bodies that call the block executor).
// Forced in front of every translation unit, as nvcc forces cuda_runtime.h.
#ifndef TM_CUDA_PRELUDE_H
#define TM_CUDA_PRELUDE_H

// Host units that include our headers are not device code, as with CUDA's own.
#ifndef TM_HOST_UNIT
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 131
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif
#define CUDA_VERSION 12040
#include "tm_language.h"

#if defined(__has_include)
#if __has_include(<cmath>) && __has_include(<type_traits>)
#define TM_HAVE_STD 1
#endif
#endif

#ifdef TM_HAVE_STD
// These must come before the pragma: their overloads differ by host and device otherwise.
#include <new>
#include <utility>
#include <type_traits>
#include <limits>
#include <bits/stl_algobase.h>
#ifdef TM_CLANG_CUDA
#pragma clang force_cuda_host_device begin
#endif
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <stdint.h>
#include <limits.h>
#include <float.h>
#include <time.h>
#include <assert.h>
#include <malloc.h>
#include <cmath>
#include <cstdlib>
#include <cstring>
#ifdef TM_CLANG_CUDA
#pragma clang force_cuda_host_device end
#endif
#else
#include "tm_no_system_headers.h"
#endif

#include "vector_types.h"
#include "vector_functions.h"
#include "tm_executor_device.h"
#include "tm_device_output.h"
#include "tm_device_builtins.h"
#include "tm_device_atomics.h"
#include "tm_device_math.h"
#include "tm_device_rounding.h"
#include "tm_device_simd.h"
#include "cuda_runtime_api.h"
#include "tm_texture.h"

#endif
