#include "gang.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "engine.h"

namespace tile_migrate {

void Gang::open() {
  arrived_ = 0;
  ++generation_;
  opened_.notify_all();
}

int Gang::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t mine = generation_;
  if (++arrived_ == active_) open();
  else opened_.wait(lock, [&] { return generation_ != mine || error_; });
  return error_;
}

void Gang::leave(int error) {
  std::lock_guard<std::mutex> lock(mutex_);
  --active_;
  if (error && !error_) error_ = error;
  if (error_) opened_.notify_all();
  else if (arrived_ && arrived_ == active_) open();
}

int run_gang(RangeBody body, void *context, uint64_t count) {
  std::atomic<int> error{0};
  std::mutex mutex;
  std::condition_variable decided;
  int go = 0;  // 1: all exist; -1: they never will
  auto member = [&](uint64_t i) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      decided.wait(lock, [&] { return go != 0; });
      if (go < 0) return;
    }
    int result = body(context, i, i + 1), none = 0;
    if (result) error.compare_exchange_strong(none, result);
  };
  std::vector<std::thread> threads;
  try {
    for (uint64_t i = 1; i < count; ++i) threads.emplace_back(member, i);
  } catch (const std::system_error &) {
    error = kMemoryAllocation;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    go = error ? -1 : 1;
  }
  decided.notify_all();
  member(0);
  for (std::thread &thread : threads) thread.join();
  return error.load();
}

}  // namespace tile_migrate
