// Own declarations of CUDA C++ as a language extension. One text for two compilers: libclang reads it
// in CUDA mode (declarations only), g++ reads it as C++ (with bodies that call the block executor).
// Forced in front of every translation unit, as nvcc forces cuda_runtime.h.
#ifndef TM_CUDA_PRELUDE_H
#define TM_CUDA_PRELUDE_H

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
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#define __CUDART_API_VERSION CUDART_VERSION

#ifdef __CUDA__
#define TM_CLANG_CUDA 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((annotate("managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define TM_FN __host__ __device__
#define TM_IS(...) ;
#define TM_CONSTEXPR_FN static constexpr __host__ __device__
#else
#define __host__
#define __device__
#define __global__
#define __shared__ thread_local
#define __constant__
#define __managed__
#define __launch_bounds__(...)
// Plain C++ rejects a repeated `inline`, which CUDA code often has; one translation unit needs none.
#define __forceinline__
#define __noinline__
#define TM_FN static inline
#define TM_IS(...) { __VA_ARGS__ }
#define TM_CONSTEXPR_FN static constexpr
#endif
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
// Shared memory is placed at 128 bytes by the executor: no object may rely on more.
#ifdef TM_CLANG_CUDA
#define TM_ALIGNED(n) __attribute__((aligned(n)))
#else
#define TM_ALIGNED(n) __attribute__((aligned((n) > 128 ? 128 : (n))))
#endif
#define __align__(n) TM_ALIGNED(n)
#define __builtin_align__(n) TM_ALIGNED(n)
#define __device_builtin__
#define __nv_pure__
#define __inline_hint__
#define __thread__ __thread
#define CUDARTAPI
#define CUDART_CB
#define CUDA_CB
#define __host_device__ __host__ __device__

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
#include "cuda_runtime_api.h"
#include "tm_texture.h"

#endif
