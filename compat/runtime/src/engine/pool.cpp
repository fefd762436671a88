// A job is a range of block indices that its launching thread and idle workers take chunks from.
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

namespace tile_migrate {

namespace {

constexpr unsigned kMaxPool = 1024;
constexpr uint64_t kChunksPerThread = 8;

struct Job {
  RangeBody body;
  void *context;
  uint64_t count, chunk;
  unsigned helpers = 0;  // workers inside; under the pool's mutex
  std::atomic<uint64_t> next{0};
  std::atomic<int> error{0};

  bool has_work() const { return next.load(std::memory_order_relaxed) < count; }
  void drain() {
    while (error.load(std::memory_order_relaxed) == 0) {
      uint64_t first = next.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= count) return;
      int result = body(context, first, std::min(first + chunk, count));
      int none = 0;
      if (result) error.compare_exchange_strong(none, result);
    }
  }
};

struct Pool {
  std::mutex mutex;
  std::condition_variable work, done;
  std::vector<Job *> jobs;
  unsigned workers = 0, idle = 0;
};

// Replaced in the child of a fork, where its threads do not exist; never destroyed, since threads
// use it until the process ends.
Pool *pool;

unsigned configured_size() {
  const char *text = getenv("TILE_MIGRATE_THREADS");
  if (text && *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end == 0 && value > 0) return (unsigned)std::min<long>(value, kMaxPool);
  }
  cpu_set_t set;
  int available = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return (unsigned)std::min<int>(std::max(available, 1), (int)kMaxPool);
}

void *worker_main(void *raw) {
  Pool &mine = *(Pool *)raw;
  std::unique_lock<std::mutex> lock(mine.mutex);
  for (;;) {
    Job *job = nullptr;
    for (Job *candidate : mine.jobs)
      if (candidate->has_work() && (!job || candidate->helpers < job->helpers)) job = candidate;
    if (!job) {
      ++mine.idle;
      mine.work.wait(lock);
      --mine.idle;
      continue;
    }
    ++job->helpers;
    lock.unlock();
    job->drain();
    lock.lock();
    if (--job->helpers == 0) mine.done.notify_all();
  }
  return nullptr;
}

// Under the mutex. Fewer workers than asked for are no error.
void start_workers(Pool &p, unsigned wanted) {
  while (p.workers < wanted) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The program's own signals are for the program's own threads.
    sigset_t all, previous;
    sigfillset(&all);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, &previous);
    pthread_t thread;
    int failed = pthread_create(&thread, &attributes, worker_main, &p);
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    pthread_attr_destroy(&attributes);
    if (failed) return;
    pthread_setname_np(thread, "tm-blocks");
    ++p.workers;
  }
}

void before_fork() { pool->mutex.lock(); }
void after_fork_in_parent() { pool->mutex.unlock(); }
void after_fork_in_child() { pool = new Pool; }

Pool &the_pool() {
  static bool made = [] {
    pool = new Pool;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return true;
  }();
  (void)made;
  return *pool;
}

}  // namespace

unsigned pool_size() {
  static const unsigned size = configured_size();
  return size;
}

int run_parallel(RangeBody body, void *context, uint64_t count, bool alone) {
  unsigned size = pool_size();
  if (alone || count < 2 || size < 2) return count ? body(context, 0, count) : 0;
  Job job{body, context, count, std::max<uint64_t>(1, count / (size * kChunksPerThread))};
  Pool &p = the_pool();
  uint64_t helpers = std::min<uint64_t>(size - 1, (count - 1) / job.chunk);
  {
    std::lock_guard<std::mutex> lock(p.mutex);
    p.jobs.push_back(&job);
    start_workers(p, size - 1);
    helpers = std::min<uint64_t>(helpers, p.idle);
  }
  for (uint64_t i = 0; i < helpers; ++i) p.work.notify_one();
  job.drain();
  std::unique_lock<std::mutex> lock(p.mutex);
  p.jobs.erase(std::find(p.jobs.begin(), p.jobs.end(), &job));
  p.done.wait(lock, [&] { return job.helpers == 0; });
  return job.error.load();
}

}  // namespace tile_migrate
