// The launch seam: how implementations of kernels are registered, chosen and run.
//
// A kernel is known by its mangled name. Each implementation, whatever its level, is a C function
//   int tm_kernel(const tm_launch *, void **arguments)
// (0, or a cudaError) registered under that name and a kind; the runtime picks one per launch.
// Everything here is plain C: AOT objects, rewritten C++ and nvcc-built programs all use it.
#ifndef TM_LAUNCH_H
#define TM_LAUNCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TM_ABI_VERSION 1

enum tm_kind { TM_KIND_KEPT = 0, TM_KIND_TILE = 1, TM_KIND_LOOP = 2, TM_KIND_SIMT = 3 };

// One launch. kernel is the mangled name; number counts this kernel's launches in the process from 1.
typedef struct tm_launch {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t shared_bytes;  // dynamic
  void *stream;           // cudaStream_t
  int32_t device;
  uint32_t cooperative;
  const char *kernel;
  uint64_t number;
} tm_launch;

typedef int (*tm_implementation)(const tm_launch *launch, void **arguments);

// What an implementation returns, having written nothing, when these arguments are outside what it
// was verified for: the next kind runs instead (tile, loop, simt, kept).
#define TM_NOT_APPLICABLE (-1)

// Of a scalar parameter itself, or of what a pointer points to.
enum tm_element {
  TM_ELEMENT_UNKNOWN = 0,
  TM_ELEMENT_INT8 = 1,
  TM_ELEMENT_UINT8 = 2,
  TM_ELEMENT_INT16 = 3,
  TM_ELEMENT_UINT16 = 4,
  TM_ELEMENT_INT32 = 5,
  TM_ELEMENT_UINT32 = 6,
  TM_ELEMENT_INT64 = 7,
  TM_ELEMENT_UINT64 = 8,
  TM_ELEMENT_FLOAT16 = 9,
  TM_ELEMENT_BFLOAT16 = 10,
  TM_ELEMENT_FLOAT32 = 11,
  TM_ELEMENT_FLOAT64 = 12
};

// A parameter of the CUDA kernel, in declaration order; arguments[i] points to a value of `bytes`.
// written: the kernel may store through this pointer (1 when in doubt).
typedef struct tm_parameter {
  const char *name;
  uint32_t bytes;
  uint8_t is_pointer;
  uint8_t written;
  uint16_t element;  // enum tm_element: check mode compares and prints by it
} tm_parameter;

enum {
  TM_KERNEL_NO_BARRIER = 1u << 0,     // threads never wait for each other
  TM_KERNEL_GRID_BARRIER = 1u << 1    // synchronises the grid: blocks must run at the same time
};

// One implementation of one kernel. Strings and arrays must outlive the registration.
// Kernels with internal linkage (static, anonymous namespaces) may share a mangled name: theirs is
// the name together with `source`, which must then be the same text in all of a kernel's records.
typedef struct tm_kernel_record {
  uint32_t abi;                // TM_ABI_VERSION
  int32_t kind;                // enum tm_kind
  const char *mangled;
  const void *host_function;   // what cudaLaunchKernel is called with; NULL: known by name only
  tm_implementation implementation;
  const tm_parameter *parameters;
  uint32_t parameter_count;
  uint32_t flags;              // TM_KERNEL_*
  uint64_t shared_static;      // bytes of static shared memory
  uint32_t max_threads;        // __launch_bounds__, 0: none
  const char *source;          // "path:line" of the CUDA kernel
} tm_kernel_record;

// 0, or a cudaError. Registering one (name, kind) twice: the first is used while it is registered.
int tm_register_kernel(const tm_kernel_record *record);
void tm_unregister_kernel(const tm_kernel_record *record);
// Non-zero for a mangled name that several translation units may have for kernels of their own.
int tm_has_internal_linkage(const char *mangled);

// For implementations.
// Runs entry(arguments) once per thread of the launch on fibers, blocks spread over the pool.
int tm_run_threads(const tm_launch *launch, void (*entry)(void **), void **arguments, uint32_t flags);
// Calls body(context, first, last) over ranges that together are the linear block indices
// [0, grid.x * grid.y * grid.z), x fastest, from several OS threads at once. The first non-zero
// return value ends it and is returned.
int tm_run_blocks(const tm_launch *launch, int (*body)(void *, uint64_t, uint64_t), void *context);

// Bytes from pointer to the end of the allocation that holds it; 0: in none that is known.
uint64_t tm_extent(const void *pointer);

// For rewritten launches: tm_push_configuration stores what <<<>>> says, the kernel's own function,
// called on the host, takes it and launches itself. Both return 0 or a cudaError.
int tm_push_configuration(uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
                          uint64_t shared_bytes, void *stream);
int tm_launch_pushed(const void *host_function, void **arguments);
// For tools. Runs launch->kernel to its end as the switches of the environment say; 0 or a cudaError.
int tm_launch_named(const tm_launch *launch, void **arguments);
// A device variable of the program by its name ("ns::x"); NULL: none that is known.
void *tm_find_variable(const char *name, uint64_t *bytes);
// Non-zero on an OS thread while it runs a kernel's thread.
extern __thread int tm_kernel_depth __attribute__((tls_model("initial-exec")));

#ifdef __cplusplus
}
#endif
#endif
