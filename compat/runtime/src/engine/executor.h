// What one OS thread needs to run blocks.
#ifndef TM_ENGINE_EXECUTOR_H
#define TM_ENGINE_EXECUTOR_H

#include <stdint.h>

#include "block.h"
#include "engine.h"
#include "gang.h"

namespace tile_migrate {

struct Executor {
  Block block;
  tm_status status{};
  Fiber call;  // a large stack, for code that runs whole blocks
  void (*call_body)(Executor *) = nullptr;
  void *work = nullptr;
  uint8_t *shared_area = nullptr;
  uint64_t shared_capacity = 0;
  void *signal_stack = nullptr;
  int error = 0;
  const char *kernel = "";
  Gang *gang = nullptr;
  bool grid_pending = false;

  ~Executor();
  bool ensure_shared(uint64_t bytes);
  // Runs body(this) on the large stack; false after a failure.
  bool run_call(void (*body)(Executor *));
};

// Of the calling thread; null before its first block.
extern __thread Executor *executor_of_thread TM_INITIAL_EXEC;
// Creates it when needed; null: no memory.
Executor *this_executor();

}  // namespace tile_migrate

#endif
