// Joins two tables of rows by a hash table that is built on the device, in partitions over several streams.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include <cuda_runtime.h>

#include "table.cuh"

namespace {

constexpr int kOrders = 4000, kCustomers = 900, kPartitions = 4, kBlock = 96;

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

struct Order {
  uint64_t customer;
  int32_t amount;
  int32_t id;
};

struct Customer {
  uint64_t key;
  int32_t region;
  int32_t discount;  // percent
};

struct Joined {
  int32_t order, region;
  int64_t price;  // in hundredths
};

constexpr int kRegions = 8;

__global__ void build(Table table, const Customer *customers, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) table.insert(customers[i].key, i);
}

// Joined rows go to a place that a counter gives; revenue is summed by region.
__global__ void probe(Table table, const Order *orders, int count, const Customer *customers, Joined *joined,
                      unsigned *joined_count, unsigned long long *revenue, unsigned *missing) {
  __shared__ unsigned long long block_revenue[kRegions];
  if (threadIdx.x < kRegions) block_revenue[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    int c = table.find(orders[i].customer);
    if (c < 0) {
      // Counts in steps that wrap at 1000, as a ticket machine would.
      atomicInc(missing, 999u);
      continue;
    }
    int64_t price = int64_t(orders[i].amount) * (100 - customers[c].discount);
    joined[atomicAdd(joined_count, 1u)] = Joined{orders[i].id, customers[c].region, price};
    atomicAdd(&block_revenue[customers[c].region], (unsigned long long)price);
  }
  __syncthreads();
  if (threadIdx.x < kRegions && block_revenue[threadIdx.x])
    atomicAdd(&revenue[threadIdx.x], block_revenue[threadIdx.x]);
}

// The largest order of each region by compare and swap on (price, order) packed into 64 bits.
__global__ void best_orders(const Joined *joined, const unsigned *joined_count, unsigned long long *best) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < *joined_count; i += gridDim.x * blockDim.x) {
    unsigned long long packed = ((unsigned long long)joined[i].price << 20) | (unsigned)joined[i].order;
    unsigned long long *slot = &best[joined[i].region], seen = *slot;
    while (packed > seen) {
      unsigned long long before = atomicCAS(slot, seen, packed);
      if (before == seen) break;
      seen = before;
    }
  }
}

uint32_t draw(uint32_t &state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

uint64_t key_of(uint32_t number) { return (uint64_t(number) << 33) ^ (number * 2654435761u) ^ 1u; }

// What a stream's callback leaves: read after everything has been synchronised.
struct Done {
  cudaError_t status = cudaErrorUnknown;
  int partition = -1;
};

void note(cudaStream_t, cudaError_t status, void *user) {
  auto *done = static_cast<std::pair<Done *, int> *>(user);
  *done->first = Done{status, done->second};
}

}  // namespace

int main() {
  uint32_t state = 88172645u;
  std::vector<Customer> customers(kCustomers);
  for (int i = 0; i < kCustomers; ++i)
    customers[i] = Customer{key_of(i * 3), int32_t(draw(state) % kRegions), int32_t(draw(state) % 30)};
  Order *orders;
  require(cudaMallocHost(&orders, kOrders * sizeof(Order)), "cudaMallocHost");
  for (int i = 0; i < kOrders; ++i)
    orders[i] = Order{key_of(draw(state) % (kCustomers * 4)), int32_t(1 + draw(state) % 5000), i};

  Customer *device_customers;
  require(cudaMalloc(&device_customers, kCustomers * sizeof(Customer)), "cudaMalloc");
  require(cudaMemcpy(device_customers, customers.data(), kCustomers * sizeof(Customer), cudaMemcpyHostToDevice),
          "customers");
  Table table;
  require(table.create(2048), "table");
  build<<<(kCustomers + kBlock - 1) / kBlock, kBlock>>>(table, device_customers, kCustomers);
  require(cudaGetLastError(), "build");
  cudaEvent_t built;
  require(cudaEventCreate(&built), "cudaEventCreate");
  require(cudaEventRecord(built), "cudaEventRecord");

  Order *device_orders;
  Joined *joined;
  unsigned *counters;  // joined, missing
  unsigned long long *sums;  // revenue, best
  require(cudaMalloc(&device_orders, kOrders * sizeof(Order)), "cudaMalloc");
  require(cudaMalloc(&joined, kOrders * sizeof(Joined)), "cudaMalloc");
  require(cudaMalloc(&counters, 2 * sizeof(unsigned)), "cudaMalloc");
  require(cudaMalloc(&sums, 2 * kRegions * sizeof(unsigned long long)), "cudaMalloc");
  require(cudaMemset(counters, 0, 2 * sizeof(unsigned)), "cudaMemset");
  require(cudaMemset(sums, 0, 2 * kRegions * sizeof(unsigned long long)), "cudaMemset");

  cudaStream_t streams[kPartitions];
  Done done[kPartitions];
  std::pair<Done *, int> notes[kPartitions];
  const int part = kOrders / kPartitions;
  for (int p = 0; p < kPartitions; ++p) {
    require(cudaStreamCreate(&streams[p]), "cudaStreamCreate");
    Order *slice = device_orders + p * part;
    require(cudaMemcpyAsync(slice, orders + p * part, part * sizeof(Order), cudaMemcpyHostToDevice, streams[p]),
            "orders");
    require(cudaStreamWaitEvent(streams[p], built, 0), "cudaStreamWaitEvent");
    probe<<<3, kBlock, 0, streams[p]>>>(table, slice, part, device_customers, joined, counters, sums, counters + 1);
    require(cudaGetLastError(), "probe");
    notes[p] = {&done[p], p};
    require(cudaStreamAddCallback(streams[p], note, &notes[p], 0), "cudaStreamAddCallback");
  }
  // The legacy default stream waits for the others, which block with it.
  best_orders<<<4, kBlock>>>(joined, counters, sums + kRegions);
  require(cudaGetLastError(), "best_orders");
  unsigned counts[2];
  unsigned long long totals[2 * kRegions];
  require(cudaMemcpy(counts, counters, sizeof counts, cudaMemcpyDeviceToHost), "counters");
  require(cudaMemcpy(totals, sums, sizeof totals, cudaMemcpyDeviceToHost), "sums");
  std::vector<Joined> rows(counts[0]);
  require(cudaMemcpy(rows.data(), joined, rows.size() * sizeof(Joined), cudaMemcpyDeviceToHost), "joined");
  require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  int wrong = 0;
  std::unordered_map<uint64_t, int> by_key;
  for (int i = 0; i < kCustomers; ++i) by_key[customers[i].key] = i;
  std::vector<Joined> expected;
  unsigned missing = 0;
  unsigned long long expected_totals[2 * kRegions] = {};
  for (int i = 0; i < kOrders; ++i) {
    auto found = by_key.find(orders[i].customer);
    if (found == by_key.end()) {
      missing = missing >= 999u ? 0u : missing + 1;
      continue;
    }
    const Customer &customer = customers[found->second];
    Joined row{orders[i].id, customer.region, int64_t(orders[i].amount) * (100 - customer.discount)};
    expected.push_back(row);
    expected_totals[row.region] += row.price;
    unsigned long long packed = ((unsigned long long)row.price << 20) | unsigned(row.order);
    expected_totals[kRegions + row.region] = std::max(expected_totals[kRegions + row.region], packed);
  }
  std::sort(rows.begin(), rows.end(), [](const Joined &a, const Joined &b) { return a.order < b.order; });
  wrong += rows.size() != expected.size() || counts[1] != missing;
  for (size_t i = 0; i < std::min(rows.size(), expected.size()); ++i)
    wrong += rows[i].order != expected[i].order || rows[i].region != expected[i].region ||
             rows[i].price != expected[i].price;
  for (int i = 0; i < 2 * kRegions; ++i) wrong += totals[i] != expected_totals[i];
  for (int p = 0; p < kPartitions; ++p) wrong += done[p].status != cudaSuccess || done[p].partition != p;

  for (cudaStream_t stream : streams) require(cudaStreamDestroy(stream), "cudaStreamDestroy");
  require(cudaEventDestroy(built), "cudaEventDestroy");
  require(table.destroy(), "table");
  for (void *memory : {(void *)device_customers, (void *)device_orders, (void *)joined, (void *)counters, (void *)sums})
    require(cudaFree(memory), "cudaFree");
  require(cudaFreeHost(orders), "cudaFreeHost");
  std::printf("hash_join: %d orders, %d customers, %zu joined, %u missing, %d wrong: %s\n", kOrders, kCustomers,
              rows.size(), missing, wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
