// Prices three options by Monte Carlo on every device there is, gathers the sums by peer copies and
// compares with a host version. Sums are kept in fixed point, so their order does not matter.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "payoffs.cuh"
#include "random.cuh"

namespace {

constexpr uint32_t kPaths = 24000;
constexpr uint32_t kSteps = 8;
constexpr uint64_t kSeed = 0x5eed0fbeefull;
constexpr int kBlock = 128;
constexpr int kOptions = 3;
constexpr double kFixed = 1048576.0;  // 2^20 steps a unit of money

void require(cudaError_t status, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
  std::exit(2);
}
#define OK(call) require((call), __LINE__)

struct Market {
  double spot, rate, volatility, years;
};

struct Sums {
  unsigned long long total;      // of the payoffs, fixed point
  unsigned long long in_money;   // paths that pay
  unsigned long long largest;    // payoff, fixed point
};

__host__ __device__ inline double final_price(const Market &market, uint32_t path) {
  double drift = (market.rate - 0.5 * market.volatility * market.volatility) * market.years / kSteps;
  double price = market.spot;
  for (uint32_t step = 0; step < kSteps; ++step) {
    double shock = double(normal_steps(kSeed, path, step)) / 65536.0;
    // A step of the second order in place of exp: plain operations only.
    double growth = drift + market.volatility * 0.35355339059327379 * shock;
    price = price * (1.0 + growth * (1.0 + 0.5 * growth));
  }
  return price;
}

template <class Payoff>
__global__ void price_paths(Market market, double strike, uint32_t first, uint32_t last, Sums *sums) {
  unsigned long long total = 0, in_money = 0, largest = 0;
  for (uint32_t path = first + blockIdx.x * blockDim.x + threadIdx.x; path < last; path += gridDim.x * blockDim.x) {
    double payoff = Payoff::of(final_price(market, path), strike);
    unsigned long long fixed = (unsigned long long)(payoff * kFixed);
    total += fixed;
    in_money += payoff > 0.0;
    largest = fixed > largest ? fixed : largest;
  }
  atomicAdd(&sums->total, total);
  atomicAdd(&sums->in_money, in_money);
  atomicMax(&sums->largest, largest);
}

// Adds the sums of all devices, which peer copies have put side by side.
__global__ void combine(const Sums *parts, int devices, Sums *whole) {
  int option = threadIdx.x;
  if (option >= kOptions) return;
  Sums sum = {0, 0, 0};
  for (int device = 0; device < devices; ++device) {
    const Sums &part = parts[device * kOptions + option];
    sum.total += part.total;
    sum.in_money += part.in_money;
    sum.largest = part.largest > sum.largest ? part.largest : sum.largest;
  }
  whole[option] = sum;
}

template <class Payoff> void launch_pricing(const Market &market, double strike, uint32_t first, uint32_t last,
                                            Sums *sums, cudaStream_t stream) {
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, price_paths<Payoff>, kBlock, 0));
  blocks = blocks < 1 ? 1 : blocks > 8 ? 8 : blocks;
  price_paths<Payoff><<<blocks, kBlock, 0, stream>>>(market, strike, first, last, sums);
  OK(cudaGetLastError());
}

template <class Payoff> Sums reference(const Market &market, double strike) {
  Sums sums = {0, 0, 0};
  for (uint32_t path = 0; path < kPaths; ++path) {
    double payoff = Payoff::of(final_price(market, path), strike);
    unsigned long long fixed = (unsigned long long)(payoff * kFixed);
    sums.total += fixed;
    sums.in_money += payoff > 0.0;
    sums.largest = fixed > sums.largest ? fixed : sums.largest;
  }
  return sums;
}

struct Worker {
  cudaStream_t stream;
  cudaEvent_t done;
  Sums *sums;
};

// The device rounds a product and a sum at once where it can, the host need not: a path may move by
// a step of fixed point, and one payoff in a great many may change its sign.
bool close(const Sums &a, const Sums &b) {
  double total = std::fabs(double(a.total) - double(b.total)), money = std::fabs(double(a.in_money) - double(b.in_money));
  double largest = std::fabs(double(a.largest) - double(b.largest));
  return total <= 2.0 * kPaths + kFixed && money <= 1.0 && largest <= 4.0;
}

}  // namespace

int main() {
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  const Market market = {100.0, 0.03, 0.25, 1.0};
  const double strikes[kOptions] = {105.0, 95.0, 110.0};
  std::vector<Worker> workers(devices);
  Sums *gathered, *whole;
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&gathered, devices * kOptions * sizeof(Sums)));
  OK(cudaMalloc(&whole, kOptions * sizeof(Sums)));

  int wrong = 0;
  for (int device = 0; device < devices; ++device) {
    OK(cudaSetDevice(device));
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, device));
    wrong += properties.warpSize != 32 || properties.maxThreadsPerBlock < kBlock;
    Worker &worker = workers[device];
    OK(cudaStreamCreate(&worker.stream));
    OK(cudaEventCreateWithFlags(&worker.done, cudaEventDisableTiming));
    OK(cudaMalloc(&worker.sums, kOptions * sizeof(Sums)));
    OK(cudaMemsetAsync(worker.sums, 0, kOptions * sizeof(Sums), worker.stream));
    if (device > 0) {
      int can = 0;
      OK(cudaDeviceCanAccessPeer(&can, device, 0));
      if (can) OK(cudaDeviceEnablePeerAccess(0, 0));
      if (can) wrong += cudaDeviceEnablePeerAccess(0, 0) != cudaErrorPeerAccessAlreadyEnabled;
      (void)cudaGetLastError();
    }
    const uint32_t first = uint64_t(kPaths) * device / devices, last = uint64_t(kPaths) * (device + 1) / devices;
    launch_pricing<Call>(market, strikes[0], first, last, worker.sums + 0, worker.stream);
    launch_pricing<Put>(market, strikes[1], first, last, worker.sums + 1, worker.stream);
    launch_pricing<Digital>(market, strikes[2], first, last, worker.sums + 2, worker.stream);
    OK(cudaMemcpyPeerAsync(gathered + device * kOptions, 0, worker.sums, device, kOptions * sizeof(Sums),
                           worker.stream));
    OK(cudaEventRecord(worker.done, worker.stream));
  }

  OK(cudaSetDevice(0));
  for (Worker &worker : workers) OK(cudaStreamWaitEvent(workers[0].stream, worker.done, 0));
  combine<<<1, 32, 0, workers[0].stream>>>(gathered, devices, whole);
  OK(cudaGetLastError());
  Sums result[kOptions];
  OK(cudaMemcpyAsync(result, whole, sizeof result, cudaMemcpyDefault, workers[0].stream));
  OK(cudaStreamSynchronize(workers[0].stream));

  const Sums expected[kOptions] = {reference<Call>(market, strikes[0]), reference<Put>(market, strikes[1]),
                                   reference<Digital>(market, strikes[2])};
  for (int option = 0; option < kOptions; ++option) wrong += !close(result[option], expected[option]);

  // A round trip through every device leaves the bytes as they were.
  std::vector<Sums *> hops(devices);
  for (int device = 0; device < devices; ++device) {
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&hops[device], kOptions * sizeof(Sums)));
  }
  OK(cudaMemcpyPeer(hops[0], 0, whole, 0, kOptions * sizeof(Sums)));
  for (int device = 1; device < devices; ++device)
    OK(cudaMemcpyPeer(hops[device], device, hops[device - 1], device - 1, kOptions * sizeof(Sums)));
  Sums back[kOptions];
  OK(cudaMemcpy(back, hops[devices - 1], sizeof back, cudaMemcpyDeviceToHost));
  for (int option = 0; option < kOptions; ++option)
    wrong += back[option].total != result[option].total || back[option].largest != result[option].largest;
  wrong += cudaSetDevice(devices) != cudaErrorInvalidDevice;
  (void)cudaGetLastError();

  for (int device = 0; device < devices; ++device) {
    OK(cudaSetDevice(device));
    OK(cudaFree(workers[device].sums));
    OK(cudaFree(hops[device]));
    OK(cudaEventDestroy(workers[device].done));
    OK(cudaStreamDestroy(workers[device].stream));
  }
  OK(cudaSetDevice(0));
  OK(cudaFree(gathered));
  OK(cudaFree(whole));
  std::printf("monte_carlo: %u paths, %s %.2f, %s %.2f, %s %.3f, %d wrong: %s\n", kPaths, Call::name,
              result[0].total / kFixed / kPaths, Put::name, result[1].total / kFixed / kPaths, Digital::name,
              result[2].total / kFixed / kPaths, wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
