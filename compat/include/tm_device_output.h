// printf and assert under g++: one function serves host and device code, and what the executor defines
// for them (tm_printf, ...) tells the two apart when it runs.
#ifndef TM_CUDA_PRELUDE_H
#include "tm_cuda_prelude.h"
#endif
#ifndef TM_DEVICE_OUTPUT_H
#define TM_DEVICE_OUTPUT_H

#if !defined(TM_CLANG_CUDA) && defined(TM_HAVE_STD)
extern "C" {
#if defined(__USE_FORTIFY_LEVEL) && __USE_FORTIFY_LEVEL > 0
extern int __printf_chk(int flag, const char *format, ...) __asm__("tm_printf_chk");
#else
extern int printf(const char *format, ...) __asm__("tm_printf");
extern int puts(const char *text) __asm__("tm_puts");
extern int putchar(int c) __asm__("tm_putchar");
#endif
extern void __assert_fail(const char *text, const char *file, unsigned line, const char *function) noexcept(true)
    __asm__("tm_assert_fail") __attribute__((noreturn));
}
#endif

#endif
