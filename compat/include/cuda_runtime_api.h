// The CUDA runtime API, host side: the C functions and, in C++, the ones around them.
#ifndef TM_CUDA_RUNTIME_API_H
#define TM_CUDA_RUNTIME_API_H
#if !defined(TM_CUDA_PRELUDE_H) && !defined(TM_HOST_UNIT)
#define TM_HOST_UNIT 1
#endif
#include "tm_language.h"
#include "tm_runtime_types.h"
#include "tm_runtime_functions.h"
#include "tm_runtime_refused.h"
#ifdef __cplusplus
#include "tm_runtime_templates.h"
#endif
#endif
