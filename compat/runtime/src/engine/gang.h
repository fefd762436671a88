// The blocks of a cooperative launch: one OS thread each, all at the same time.
#ifndef TM_GANG_H
#define TM_GANG_H

#include <stdint.h>

#include <condition_variable>
#include <mutex>

#include "pool.h"

namespace tile_migrate {

class Gang {
 public:
  explicit Gang(uint64_t members) : active_(members) {}
  // Waits until every member that has not left waits too. Returns the error that ended the gang.
  int wait();
  // A member is done; with an error it ends the others at their next wait.
  void leave(int error);

 private:
  void open();
  std::mutex mutex_;
  std::condition_variable opened_;
  uint64_t active_, arrived_ = 0, generation_ = 0;
  int error_ = 0;
};

// Calls body(context, i, i + 1) for every i at the same time. Returns the first error.
int run_gang(RangeBody body, void *context, uint64_t count);

}  // namespace tile_migrate

#endif
