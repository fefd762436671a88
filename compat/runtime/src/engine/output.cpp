// printf and assert of device code: text waits in order until the host synchronises.
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <mutex>
#include <string>

#include "executor.h"

extern "C" void __assert_fail(const char *text, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));

namespace tile_migrate {

namespace {

constexpr size_t kBufferBytes = 1 << 20;  // cudaLimitPrintfFifoSize; more is written early, not lost

struct Output {
  std::mutex text_mutex, write_mutex;  // write before text
  std::string text;
  std::atomic<bool> waiting{false};
};

// Never destroyed: kernels may still print while the process exits.
Output &output() {
  static Output *made = [] {
    auto *created = new Output;
    pthread_atfork([] { output().write_mutex.lock(); output().text_mutex.lock(); },
                   [] { output().text_mutex.unlock(); output().write_mutex.unlock(); },
                   [] { output().text_mutex.unlock(); output().write_mutex.unlock(); });
    return created;
  }();
  return *made;
}

// How many arguments a format takes: what CUDA's printf returns.
int count_arguments(const char *format) {
  int count = 0;
  for (; *format; ++format) {
    if (*format != '%') continue;
    if (format[1] == '%') ++format;
    else if (format[1]) ++count;
  }
  return count;
}

void append(const char *text, size_t bytes) {
  Output &o = output();
  bool full;
  {
    std::lock_guard<std::mutex> lock(o.text_mutex);
    o.text.append(text, bytes);
    o.waiting.store(true, std::memory_order_release);
    full = o.text.size() > kBufferBytes;
  }
  if (full) flush_device_output();
}

int print(const char *format, va_list arguments) {
  if (!tm_kernel_depth) return vprintf(format, arguments);
  char text[512];
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(text, sizeof text, format, arguments);
  if (length >= (int)sizeof text) {
    std::string large((size_t)length + 1, 0);
    vsnprintf(&large[0], large.size(), format, again);
    append(large.data(), (size_t)length);
  } else if (length > 0) {
    append(text, (size_t)length);
  }
  va_end(again);
  return length < 0 ? -2 : count_arguments(format);
}

__attribute__((destructor)) void flush_at_exit() { flush_device_output(); }

}  // namespace

void flush_device_output() {
  Output &o = output();
  if (!o.waiting.load(std::memory_order_acquire)) return;
  std::lock_guard<std::mutex> writing(o.write_mutex);
  std::string text;
  {
    std::lock_guard<std::mutex> lock(o.text_mutex);
    o.waiting.store(false, std::memory_order_relaxed);
    text.swap(o.text);
  }
  if (!text.empty()) fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace tile_migrate

using namespace tile_migrate;

extern "C" {
#pragma GCC visibility push(default)

int tm_printf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = print(format, arguments);
  va_end(arguments);
  return result;
}

int tm_printf_chk(int, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = print(format, arguments);
  va_end(arguments);
  return result;
}

int tm_puts(const char *text) { return tm_kernel_depth ? tm_printf("%s\n", text) : puts(text); }
int tm_putchar(int c) { return tm_kernel_depth ? tm_printf("%c", c) : putchar(c); }

void tm_assert_fail(const char *text, const char *file, unsigned line, const char *function) {
  if (!tm_kernel_depth) __assert_fail(text, file, line, function);
  const Index &t = thread_index, &b = block_index;
  fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
          function, b.x, b.y, b.z, t.x, t.y, t.z, text);
  fail_launch(kAssert);
}

#pragma GCC visibility pop
}  // extern "C"
