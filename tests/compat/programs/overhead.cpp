// For benchmarks/launch_overhead.py: one JSON object a measurement, the least of several rounds.
#include "harness.h"

#include <ucontext.h>

#include <chrono>
#include <condition_variable>
#include <thread>

__global__ void empty() {}
__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void barriers(int *out) {
  for (int i = 0; i < 16; ++i) __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, 1);
}
__global__ void shuffles(int *out) {
  int v = threadIdx.x;
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x == 0) atomicAdd(out, v);
}

template <class Body>
static double least(int rounds, int repeats, Body body) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) body();
    std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / repeats);
  }
  return best;
}
static void report(const char *what, double ns, double peer) {
  printf("{\"what\": \"%s\", \"ns\": %.3f, \"peer\": %.3f}\n", what, ns, peer);
}

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  void (*job)() = nullptr;
  bool stop = false;
  std::thread worker{[this] {
    std::unique_lock<std::mutex> lock(mutex);
    while (changed.wait(lock, [&] { return job || stop; }), !stop) {
      job();
      job = nullptr;
      changed.notify_all();
    }
  }};
  void run(void (*what)()) {
    std::unique_lock<std::mutex> lock(mutex);
    job = what;
    changed.notify_all();
    changed.wait(lock, [&] { return !job; });
  }
  ~Queue() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stop = true;
    }
    changed.notify_all();
    worker.join();
  }
};

static ucontext_t here, there;
static void bounce() {
  for (;;) swapcontext(&there, &here);
}
static double context_switch() {
  std::vector<char> stack(64 * 1024);
  getcontext(&there);
  there.uc_stack.ss_sp = stack.data(), there.uc_stack.ss_size = stack.size();
  makecontext(&there, bounce, 0);
  return least(5, 10000, [] { swapcontext(&here, &there); }) / 2;
}

int main() {
  double queued;
  {
    Queue queue;
    queued = least(5, 2000, [&] { queue.run(empty); });
  }
  report("empty kernel, 1 block of 1 (peer: queued call)", least(5, 20000, [] { run<empty>(shape(1, 1)); }), queued);
  report("empty kernel, 1 block of 256", least(5, 5000, [] { run<empty>(shape(1, 256)); }), queued);
  report("empty kernel, 64 blocks of 256", least(5, 200, [] { run<empty>(shape(64, 256)); }), queued);
  const int n = 1 << 20;
  std::vector<float> x(n, 1), y(n, 2);
  unsigned threads = tile_migrate::pool_size();
  double loop = least(7, 3, [&] {
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < n; ++i) y[i] = 0.5f * x[i] + y[i];
  }) / n;
  for (unsigned flags : {(unsigned)TM_KERNEL_NO_BARRIER, 0u})
    report(flags ? "saxpy a thread, plain loop (peer: OpenMP)" : "saxpy a thread, on fibers (peer: OpenMP)",
           least(7, 3, [&] { run_flagged<saxpy>(flags, shape(n / 256, 256), 0.5f, (const float *)x.data(), y.data(), n); }) / n, loop);
  int out = 0;
  double context = context_switch();
  report("__syncthreads a thread (peer: swapcontext)",
         least(5, 1, [&] { run<barriers>(shape(256, 256), &out); }) / (256 * 256 * 16), context);
  report("shuffle a thread (peer: swapcontext)", least(5, 1, [&] { run<shuffles>(shape(256, 256), &out); }) / (256 * 256 * 5), context);
}
