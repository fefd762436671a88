// stdarg.h for a compiler without its own headers.
#ifndef TM_BUILTIN_GVL
#define TM_BUILTIN_GVL
typedef __builtin_va_list __gnuc_va_list;
#endif
#ifndef __need___va_list
#ifndef TM_BUILTIN_STDARG_H
#define TM_BUILTIN_STDARG_H
typedef __builtin_va_list va_list;
#define va_start(ap, param) __builtin_va_start(ap, param)
#define va_end(ap) __builtin_va_end(ap)
#define va_arg(ap, type) __builtin_va_arg(ap, type)
#define va_copy(d, s) __builtin_va_copy(d, s)
#define __va_copy(d, s) __builtin_va_copy(d, s)
#endif
#endif
#undef __need___va_list
