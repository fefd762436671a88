// The words of CUDA C++ that are macros, and the version that our headers speak. For host code of any
// compiler, for libclang in CUDA mode and for g++ as the compiler of device code.
#ifndef TM_LANGUAGE_H
#define TM_LANGUAGE_H

#define CUDART_VERSION 12040
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
// Units of a program may all define such a function. A unit by itself needs no `inline`, and plain C++
// rejects a repeated one.
#if defined(TM_UNIT_NAME) || defined(TM_HOST_UNIT)
#define __forceinline__ __inline__
#else
#define __forceinline__
#endif
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

#endif
