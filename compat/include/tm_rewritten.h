// What rewritten host code uses. Under nvcc (and clang in CUDA mode) every macro is the CUDA text it
// stands for; under g++ launches and kernels go through the launch seam (tm_launch.h).
#ifndef TM_REWRITTEN_H
#define TM_REWRITTEN_H

#define TM_UNWRAP(...) __VA_ARGS__

#if defined(__CUDA__) || (defined(__NVCC__) && !defined(TM_CUDA_PRELUDE_H))

#define TM_LAUNCH(callee, configuration, arguments) \
  TM_UNWRAP callee<<<TM_UNWRAP configuration>>> arguments
#define TM_CONFIGURATION(...) <<<__VA_ARGS__>>>
#define TM_KERNEL_ENTRY(self, types, names, ...)
#define TM_DYNAMIC_SHARED(name, dimensions, ...) extern __shared__ __VA_ARGS__ name[] dimensions
#define TM_DYNAMIC_SHARED_OBJECT(name, ...) extern __shared__ __VA_ARGS__ name
#define TM_DYNAMIC_SHARED_VIEW(name)
#define TM_DEVICE_ASM(...) __VA_ARGS__

#else

#include "tm_cuda_prelude.h"
#include "tm_launch.h"

#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

// The launch is an expression of type void, as <<<>>> is. A configuration that the runtime rejects
// starts nothing: the error is cudaGetLastError's.
#define TM_LAUNCH(callee, configuration, arguments)           \
  (::tile_migrate::push_configuration configuration ? (void)0 \
                                                    : (void)(TM_UNWRAP callee) arguments)
// `k TM_CONFIGURATION(grid, block) (x)` for launches whose parts come from several macros.
#define TM_CONFIGURATION(...) ->*::tile_migrate::configuration(__VA_ARGS__)

// First statement of a kernel. Called on the host, the kernel launches itself with the configuration
// pushed before. tm_here is one type an instance: its name holds the kernel's mangled name. A fourth
// argument is what __launch_bounds__ allows.
#define TM_KERNEL_ENTRY(self, types, names, ...)                                                     \
  {                                                                                                 \
    struct tm_here {                                                                                \
      static const void *tm_function() {                                                            \
        return ::tile_migrate::signature<TM_UNWRAP types>::address(TM_UNWRAP self);                 \
      }                                                                                             \
      static void tm_thread(void **tm_arguments) {                                                  \
        ::tile_migrate::signature<TM_UNWRAP types>::call(TM_UNWRAP self, tm_arguments);             \
      }                                                                                             \
      static const char *tm_names() { return #names; }                                              \
      static const char *tm_file() { return __FILE__; }                                             \
      static unsigned tm_line() { return __LINE__; }                                                \
      static uint32_t tm_bounds() { return uint32_t(__VA_ARGS__ + 0); }                             \
    };                                                                                              \
    typedef ::tile_migrate::registered<tm_here, ::tile_migrate::signature<TM_UNWRAP types>> tm_own; \
    (void)&tm_own::at_start;                                                                        \
    if (__builtin_expect(tm_kernel_depth == 0, 0)) {                                                \
      tm_own::launch(::tile_migrate::addresses<TM_UNWRAP types> names);                             \
      return;                                                                                       \
    }                                                                                               \
  }
// The unit's file, where the build says what it was copied from.
#ifndef TM_UNIT_NAME
#define TM_UNIT_NAME __BASE_FILE__
#endif

#define TM_DYNAMIC_SHARED(name, dimensions, ...) \
  __VA_ARGS__(*const name) dimensions = ::tile_migrate::dynamic_shared()
#define TM_DYNAMIC_SHARED_OBJECT(name, ...) \
  __VA_ARGS__ &name = *static_cast<__VA_ARGS__ *>(tm_dynamic_shared())
// Inside a function that uses a dynamic shared array declared at namespace scope.
#define TM_DYNAMIC_SHARED_VIEW(name)                                \
  typename ::std::remove_extent<decltype(name)>::type *const name = \
      ::tile_migrate::dynamic_shared();                             \
  (void)name;
// PTX cannot run here: the launch fails when a thread reaches it.
#define TM_DEVICE_ASM(...) tm_refuse("inline PTX")

namespace tile_migrate {

inline int push_configuration(dim3 grid, dim3 block, unsigned long long shared_bytes = 0,
                              cudaStream_t stream = nullptr) {
  return tm_push_configuration(grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                               (void *)stream);
}

struct dynamic_shared {
  template <class T>
  operator T *() const {
    return static_cast<T *>(tm_dynamic_shared());
  }
};

// A parameter's type as the function's type has it: `T *__restrict__ const` is `T *` there.
template <class P>
struct passed {
  typedef P type;
};
template <class P>
struct passed<const P> : passed<P> {};
template <class P>
struct passed<volatile P> : passed<P> {};
template <class P>
struct passed<const volatile P> : passed<P> {};
template <class P>
struct passed<P *__restrict__> {
  typedef P *type;
};
template <class P>
struct passed<P *__restrict__ const> {
  typedef P *type;
};

template <class... P>
struct signature {
  typedef void (*function)(typename passed<P>::type...);
  static const void *address(function kernel) { return reinterpret_cast<const void *>(kernel); }
  static void call(function kernel, void **arguments) {
    call(kernel, arguments, std::index_sequence_for<P...>());
  }
  template <size_t... I>
  static void call(function kernel, void **arguments, std::index_sequence<I...>) {
    (void)arguments;
    kernel(*static_cast<typename passed<P>::type *>(arguments[I])...);
  }
};

template <class... P>
struct addresses {
  void *at[sizeof...(P) + 1];
  explicit addresses(P &...parameters)
      : at{const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(parameters)))...,
           nullptr} {}
};

// "Z1kPfE7tm_here" → "_Z1kPf": a local type is named after the function that holds it.
struct kernel_name {
  char text[1024];
  explicit kernel_name(const char *local) {
    if (*local == '*') ++local;
    size_t length = __builtin_strlen(local);
    const size_t tail = sizeof "E7tm_here" - 1;
    if (*local == 'Z') ++local, --length;
    while (length > tail && __builtin_memcmp(local + length - tail, "E7tm_here", tail) != 0) --length;
    length = length > tail ? length - tail : length;
    size_t digits = 0, number = 0;
    while (digits < length && local[digits] >= '0' && local[digits] <= '9')
      number = number * 10 + (size_t)(local[digits++] - '0');
    size_t out = 0;
    if (digits && digits + number == length) {
      local += digits, length -= digits;  // extern "C"
    } else {
      text[out++] = '_', text[out++] = 'Z';
    }
    for (size_t i = 0; i < length && out + 1 < sizeof text; ++i) text[out++] = local[i];
    text[out] = 0;
  }
};

// "path:line". Several units may have a kernel of internal linkage from one header: " (unit)" follows.
static std::string kernel_source(const char *mangled, const char *file, unsigned line) {
  std::string text = std::string(file) + ":" + std::to_string(line);
  if (tm_has_internal_linkage(mangled) && std::string(file) != TM_UNIT_NAME) text += " (" TM_UNIT_NAME ")";
  return text;
}

// "(first, second)" → the parameters' names, one a parameter.
template <size_t N>
struct parameter_names {
  char text[N * 64 + 1];
  const char *at[N + 1];
  explicit parameter_names(const char *list) {
    for (size_t i = 0; i < N; ++i) {
      char *out = text + i * 64, *end = out + 63;
      at[i] = out;
      while (*list == '(' || *list == ',' || *list == ' ') ++list;
      while (*list && *list != ',' && *list != ')') {
        if (out < end && *list != '.' && *list != ' ') *out++ = *list;
        ++list;
      }
      *out = 0;
    }
  }
};

// The record that runs the kernel's own code, a thread each.
template <class Here, class Signature>
struct registered;
template <class Here, class... P>
struct registered<Here, signature<P...>> {
  kernel_name name;
  parameter_names<sizeof...(P)> names;
  std::string source;
  tm_parameter parameters[sizeof...(P) + 1];
  tm_kernel_record record;

  static int run(const tm_launch *launch, void **arguments) {
    return tm_run_threads(launch, &Here::tm_thread, arguments, 0);
  }
  registered()
      : name(typeid(Here).name()),
        names(Here::tm_names()),
        source(kernel_source(name.text, Here::tm_file(), Here::tm_line())),
        parameters{tm_parameter{nullptr, sizeof(P), points<P>(), writable<P>(), 0}...,
                   tm_parameter{nullptr, 0, 0, 0, 0}},
        record() {
    for (size_t i = 0; i < sizeof...(P); ++i) parameters[i].name = names.at[i];
    record.abi = TM_ABI_VERSION;
    record.kind = TM_KIND_KEPT;
    record.mangled = name.text;
    record.host_function = Here::tm_function();
    record.implementation = &run;
    record.parameters = parameters;
    record.parameter_count = sizeof...(P);
    record.max_threads = Here::tm_bounds();
    record.source = source.c_str();
    tm_register_kernel(&record);
  }
  ~registered() { tm_unregister_kernel(&record); }
  registered(const registered &) = delete;
  registered &operator=(const registered &) = delete;

  template <class T>
  static constexpr bool points() {
    return std::is_pointer<typename passed<T>::type>::value;
  }
  template <class T>
  static constexpr bool writable() {
    typedef typename std::remove_pointer<typename passed<T>::type>::type pointee;
    return points<T>() ? !std::is_const<pointee>::value : std::is_class<pointee>::value;
  }
  static registered &instance() {
    static registered only;
    return only;
  }
  static registered &at_start;
  static void launch(addresses<P...> arguments) {
    tm_launch_pushed(instance().record.host_function, arguments.at);
  }
};
// Registered when the program (or library) starts, or by a launch before that.
template <class Here, class... P>
registered<Here, signature<P...>> &registered<Here, signature<P...>>::at_start =
    registered<Here, signature<P...>>::instance();

template <class... A>
struct pending {
  bool rejected;
  std::tuple<A...> arguments;
};
struct configured {
  bool rejected;
  template <class... A>
  pending<A &&...> operator()(A &&...arguments) const {
    return {rejected, std::tuple<A &&...>(std::forward<A>(arguments)...)};
  }
};
template <class... C>
configured configuration(C &&...values) {
  return {push_configuration(std::forward<C>(values)...) != 0};
}
template <class F, class... A, size_t... I>
void start(F *kernel, pending<A...> &launch, std::index_sequence<I...>) {
  kernel(std::forward<A>(std::get<I>(launch.arguments))...);
}
template <class... P, class... A>
void operator->*(void (*kernel)(P...), pending<A...> launch) {
  if (!launch.rejected) start(kernel, launch, std::index_sequence_for<A...>());
}

}  // namespace tile_migrate

#endif

#endif
