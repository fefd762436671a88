// C interface of the block executor: guarded memory, and kernels run on it under control.
//
// Every function is for one OS thread at a time. Nothing throws; errors are values.
#ifndef TM_EXECUTOR_H
#define TM_EXECUTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tm_status_kind {
  TM_OK = 0,
  TM_OUT_OF_BOUNDS = 1,       // a guard zone of a known buffer (or shared memory) was touched
  TM_TIMEOUT = 2,             // CPU time limit
  TM_DIVERGENT_BARRIER = 3,   // threads wait at barriers that can never complete
  TM_TRAP = 4,                // __trap, failed assert, illegal instruction, abort
  TM_BAD_WARP_OPERATION = 5,  // caller missing from its own mask, or lanes disagree
  TM_STACK_OVERFLOW = 6,      // a thread used more local memory than a fiber stack has
  TM_DEMAND_LIMIT = 7,        // a demand buffer touched more than its cap
  TM_WILD_ACCESS = 8,         // a fault outside every known region
  TM_BAD_ARGUMENT = 9,        // block too large, out of memory
  TM_DATA_RACE = 10           // two threads touched a byte, one changed it, nothing orders them
};

enum { TM_NO_BUFFER = -1, TM_SHARED_MEMORY = -2 };

// offset is relative to the buffer's pointer, in bytes; block and thread are where it happened.
typedef struct tm_status {
  int32_t kind;
  int32_t buffer;
  int64_t offset;
  uint64_t address;
  int32_t write;
  int32_t undefined_lanes;  // shuffles that read a lane without a value
  uint32_t block[3];
  uint32_t thread[3];
  char detail[96];
  // Of a data race: the access above, and the earlier one; code addresses are 0 where unknown.
  int32_t atomic, other_write, other_atomic;
  uint32_t other_block[3];
  uint32_t other_thread[3];
  uint64_t code, other_code;
} tm_status;

enum tm_dtype {
  TM_I8, TM_U8, TM_I16, TM_U16, TM_I32, TM_U32, TM_I64, TM_U64, TM_F16, TM_BF16, TM_F32, TM_F64
};
enum tm_fill_kind {
  TM_FILL_ZERO = 0,
  TM_FILL_UNIFORM_INT = 1,    // an integer of [int_low, int_high], converted to dtype
  TM_FILL_UNIFORM_FLOAT = 2,  // a number of [float_low, float_high)
  TM_FILL_IOTA = 3            // min(int_low + index * int_step, int_high)
};
// Element `index` (from the buffer's pointer, may be negative) is a pure function of this record.
typedef struct tm_fill {
  int32_t dtype;
  int32_t kind;
  int64_t int_low, int_high, int_step;
  double float_low, float_high;
  uint64_t seed;
} tm_fill;

enum tm_schedule { TM_FORWARD = 0, TM_REVERSE = 1, TM_SHUFFLE = 2 };
typedef struct tm_options {
  uint32_t schedule;
  uint32_t poison;         // byte that fills shared memory before every block
  uint64_t seed;           // of TM_SHUFFLE
  uint32_t time_limit_ms;  // of CPU time; 0 is none
  uint32_t race;           // look for data races (slow), also in `watched`: address, size, ...
  const uint64_t *watched;
  uint64_t watched_count;  // of ranges
} tm_options;

typedef struct tm_arena tm_arena;
tm_arena *tm_arena_create(void);
void tm_arena_destroy(tm_arena *arena);
// A buffer whose last (at_start: first) byte borders on an inaccessible zone of 1 GiB. Returns its id,
// or -1. alignment applies to the pointer: at the far end up to alignment-1 bytes stay unguarded.
int32_t tm_arena_add_guarded(tm_arena *arena, uint64_t bytes, uint64_t alignment, int32_t at_start,
                             void **pointer);
// A buffer that appears page by page when touched, holding `fill`. reserve bytes lie at and after
// the pointer, lead bytes before it; more than cap touched bytes end the run (TM_DEMAND_LIMIT).
int32_t tm_arena_add_demand(tm_arena *arena, uint64_t reserve, uint64_t lead, uint64_t cap,
                            const tm_fill *fill, void **pointer);
// Exact mode of a demand buffer: every access is single-stepped, so extents are exact to the byte
// where an access starts. Slow (microseconds an access).
int32_t tm_arena_trace(tm_arena *arena, int32_t buffer, int32_t on);
// out: read low, read high, write low, write high (byte offsets, high exclusive, low == high none),
// bytes mapped. Page granular without trace; with it, high is one past the last access's first byte.
int32_t tm_arena_touched(const tm_arena *arena, int32_t buffer, int64_t out[5]);
void tm_fill_elements(const tm_fill *fill, void *destination, int64_t first, uint64_t count);

// Runs entry(args) once per thread. shared_static is the size of the module's static shared memory
// (offset of its dynamic area), shared_bytes the launch's dynamic size.
int32_t tm_run_kernel(void (*entry)(void **), const uint32_t grid[3], const uint32_t block[3],
                      uint64_t shared_static, uint64_t shared_bytes, void **args, tm_arena *arena,
                      const tm_options *options, tm_status *status);
// Runs entry(args) once, under the same guards, on its own stack.
int32_t tm_run_trampoline(void (*entry)(void **), void **args, tm_arena *arena,
                          const tm_options *options, tm_status *status);

#ifdef __cplusplus
}
#endif
#endif
