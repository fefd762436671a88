// 64 host threads launch on 16 streams for a number of seconds; nothing may get lost. Every thread knows
// what its launches add up to. With "launches N" a single thread launches N times instead, and the memory
// that the process holds must not grow.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <unistd.h>

#include <cuda_runtime.h>

constexpr int kThreads = 64, kStreams = 16, kCells = 96;

__global__ void add(unsigned long long *cells, unsigned long long value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&cells[i], value);
}

__global__ void sum_block(const unsigned long long *cells, unsigned long long *total, int n) {
  __shared__ unsigned long long part[32];
  unsigned long long mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += cells[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int step = 16; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = part[0];
}

static std::atomic<long> launches{0}, wrong{0};

static void work(int number, cudaStream_t stream, unsigned long long *shared_cells,
                 std::chrono::steady_clock::time_point end, unsigned long long *added) {
  unsigned long long *own, *total, *pinned, sum = 0;
  wrong += cudaMalloc(&own, kCells * sizeof *own) != cudaSuccess;
  wrong += cudaMallocAsync(&total, sizeof *total, stream) != cudaSuccess;
  wrong += cudaMallocHost(&pinned, sizeof *pinned) != cudaSuccess;
  wrong += cudaMemsetAsync(own, 0, kCells * sizeof *own, stream) != cudaSuccess;
  cudaEvent_t event;
  wrong += cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess;
  do {
    for (int i = 1; i <= 8; ++i) {
      add<<<3, 32, 0, stream>>>(own, i + number, kCells);
      add<<<3, 32, 0, stream>>>(shared_cells, 1, kCells);
      sum += i + number;
      wrong += cudaGetLastError() != cudaSuccess;
    }
    sum_block<<<1, 32, 0, stream>>>(own, total, kCells);
    wrong += cudaMemcpyAsync(pinned, total, sizeof *pinned, cudaMemcpyDeviceToHost, stream) != cudaSuccess;
    wrong += cudaEventRecord(event, stream) != cudaSuccess || cudaEventSynchronize(event) != cudaSuccess;
    wrong += *pinned != sum * kCells;
    launches += 17;
    *added += 8;
  } while (std::chrono::steady_clock::now() < end);
  wrong += cudaEventDestroy(event) != cudaSuccess;
  wrong += cudaFreeAsync(total, stream) != cudaSuccess;
  wrong += cudaStreamSynchronize(stream) != cudaSuccess;
  wrong += cudaFree(own) != cudaSuccess || cudaFreeHost(pinned) != cudaSuccess;
}

static long resident_kib() {
  long pages = 0, ignored = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int launch_many(long count) {
  unsigned long long *cells, first = 0;
  wrong += cudaMalloc(&cells, kCells * sizeof *cells) != cudaSuccess;
  wrong += cudaMemset(cells, 0, kCells * sizeof *cells) != cudaSuccess;
  long before = 0;
  for (long i = 0; i < count; ++i) {
    add<<<1, 32>>>(cells, 1, 1);
    if (i % 1000 == 999) wrong += cudaDeviceSynchronize() != cudaSuccess;
    if (i == count / 4) before = resident_kib();
  }
  wrong += cudaMemcpy(&first, cells, sizeof first, cudaMemcpyDeviceToHost) != cudaSuccess;
  wrong += first != (unsigned long long)count;
  const long grown = resident_kib() - before;
  wrong += grown > 4096;
  std::printf("many_threads: %ld launches, %ld KiB more, %ld wrong\n", count, grown, wrong.load());
  return wrong != 0;
}

int main(int argc, char **argv) {
  if (argc > 2 && !std::strcmp(argv[1], "launches")) return launch_many(std::atol(argv[2]));
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                          std::chrono::duration<double>(seconds));
  cudaStream_t streams[kStreams];
  for (cudaStream_t &stream : streams) wrong += cudaStreamCreate(&stream) != cudaSuccess;
  unsigned long long *cells, added[kThreads] = {}, total = 0, host[kCells];
  wrong += cudaMalloc(&cells, sizeof host) != cudaSuccess || cudaMemset(cells, 0, sizeof host) != cudaSuccess;
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t, streams[t % kStreams], cells, end, &added[t]);
  for (std::thread &thread : threads) thread.join();
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  wrong += cudaMemcpy(host, cells, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess;
  for (unsigned long long one : added) total += one;
  for (unsigned long long cell : host) wrong += cell != total;
  for (cudaStream_t stream : streams) wrong += cudaStreamDestroy(stream) != cudaSuccess;
  std::fprintf(stderr, "%ld launches in %.1f s\n", launches.load(), seconds);
  std::printf("many_threads: %d threads on %d streams, %ld wrong\n", kThreads, kStreams, wrong.load());
  return wrong != 0;
}
