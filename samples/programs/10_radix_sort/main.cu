// Sorts keys of three types, each on a stream of its own, with memory allocated in stream order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "radix.cuh"

static void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

static uint64_t random_bits(uint64_t &state) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t x = state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <class Key> Key make_key(uint64_t bits);
template <> uint32_t make_key<uint32_t>(uint64_t bits) { return uint32_t(bits) & 0x00ff00ffu; }  // many equal ones
template <> uint64_t make_key<uint64_t>(uint64_t bits) { return bits; }
template <> float make_key<float>(uint64_t bits) {
  int whole = int(bits >> 40) - (1 << 23);
  return bits % 97 == 0 ? 0.0f : float(whole) / 1024.0f;
}

// One sort under way: the device's arrays, what was sorted, and where it comes back to.
template <class Key> class Sort {
 public:
  Sort(int count, uint64_t seed) : keys_(count), order_(count) {
    for (Key &key : keys_) key = make_key<Key>(random_bits(seed));
    std::iota(order_.begin(), order_.end(), 0);
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    require(cudaMallocAsync(&device_keys_, count * sizeof(Key), stream_), "cudaMallocAsync");
    require(cudaMallocAsync(&device_order_, count * sizeof(int), stream_), "cudaMallocAsync");
    require(cudaMallocHost(&result_, count * sizeof(Key)), "cudaMallocHost");
    require(cudaMallocHost(&result_order_, count * sizeof(int)), "cudaMallocHost");
  }
  Sort(const Sort &) = delete;
  ~Sort() {
    require(cudaFreeHost(result_), "cudaFreeHost");
    require(cudaFreeHost(result_order_), "cudaFreeHost");
    require(cudaStreamDestroy(stream_), "cudaStreamDestroy");
  }

  void begin() {
    const int count = int(keys_.size());
    require(cudaMemcpyAsync(device_keys_, keys_.data(), count * sizeof(Key), cudaMemcpyHostToDevice, stream_), "upload");
    require(cudaMemcpyAsync(device_order_, order_.data(), count * sizeof(int), cudaMemcpyHostToDevice, stream_),
            "upload");
    require(radix_sort(device_keys_, device_order_, count, stream_), "radix_sort");
    require(cudaMemcpyAsync(result_, device_keys_, count * sizeof(Key), cudaMemcpyDeviceToHost, stream_), "download");
    require(cudaMemcpyAsync(result_order_, device_order_, count * sizeof(int), cudaMemcpyDeviceToHost, stream_),
            "download");
    require(cudaFreeAsync(device_keys_, stream_), "cudaFreeAsync");
    require(cudaFreeAsync(device_order_, stream_), "cudaFreeAsync");
  }

  int finish() {
    require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    std::vector<int> expected(order_);
    std::stable_sort(expected.begin(), expected.end(), [this](int a, int b) { return keys_[a] < keys_[b]; });
    int wrong = 0;
    for (size_t i = 0; i < expected.size(); ++i)
      wrong += result_order_[i] != expected[i] || result_[i] != keys_[expected[i]];
    return wrong;
  }

 private:
  std::vector<Key> keys_;
  std::vector<int> order_;
  Key *device_keys_ = nullptr, *result_ = nullptr;
  int *device_order_ = nullptr, *result_order_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

int main() {
  int supported = 0;
  require(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0), "attribute");
  cudaMemPool_t pool;
  require(cudaDeviceGetDefaultMemPool(&pool, 0), "pool");
  uint64_t threshold = 1 << 20, kept = 0;
  require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "threshold");
  require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "threshold");
  int wrong = supported && kept == threshold ? 0 : 1;
  const int counts[3] = {3000, 1777, 2500};
  {
    Sort<uint32_t> words(counts[0], 1);
    Sort<uint64_t> longs(counts[1], 2);
    Sort<float> reals(counts[2], 3);
    words.begin();
    longs.begin();
    reals.begin();
    wrong += words.finish() + longs.finish() + reals.finish();
  }
  require(cudaMemPoolTrimTo(pool, 0), "trim");
  require(cudaDeviceSynchronize(), "end");
  std::printf("radix_sort: %d words, %d longs, %d floats, %d wrong: %s\n", counts[0], counts[1], counts[2], wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
