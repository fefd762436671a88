// stddef.h for a compiler without its own headers. May be included repeatedly with __need_ macros.
#ifndef TM_BUILTIN_STDDEF_H
#define TM_BUILTIN_STDDEF_H
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef __cplusplus
typedef __WCHAR_TYPE__ wchar_t;
#endif
typedef struct { long long a __attribute__((aligned(__alignof__(long long)))); long double b __attribute__((aligned(__alignof__(long double)))); } max_align_t;
#ifdef __cplusplus
typedef decltype(nullptr) nullptr_t;
#endif
#define offsetof(t, m) __builtin_offsetof(t, m)
#endif
#undef NULL
#ifdef __cplusplus
#define NULL __null
#else
#define NULL ((void *)0)
#endif
#if defined(__need_wint_t) && !defined(TM_BUILTIN_WINT)
#define TM_BUILTIN_WINT
typedef __WINT_TYPE__ wint_t;
#endif
#undef __need_size_t
#undef __need_ptrdiff_t
#undef __need_wchar_t
#undef __need_NULL
#undef __need_wint_t
