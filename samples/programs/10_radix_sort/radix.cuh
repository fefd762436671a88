// Least-significant-digit radix sort of 32- and 64-bit keys with values, four bits a pass.
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

constexpr int kRadixBits = 4;
constexpr int kDigits = 1 << kRadixBits;
constexpr int kSortBlock = 128;
constexpr int kWarps = kSortBlock / 32;

// Keys as unsigned numbers whose order is the order of the type.
template <class T> struct Ordered;

template <> struct Ordered<uint32_t> {
  using Bits = uint32_t;
  __host__ __device__ static Bits encode(uint32_t key) { return key; }
};

template <> struct Ordered<uint64_t> {
  using Bits = uint64_t;
  __host__ __device__ static Bits encode(uint64_t key) { return key; }
};

template <> struct Ordered<float> {
  using Bits = uint32_t;
  __device__ static Bits encode(float key) {
    uint32_t bits = __float_as_uint(key);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  }
};

template <class Key> __device__ inline unsigned digit_of(Key key, int shift) {
  return unsigned(Ordered<Key>::encode(key) >> shift) & (kDigits - 1);
}

// counts[digit * gridDim.x + block]: how often a digit occurs among the keys of a block.
template <class Key> __global__ void count_digits(const Key *keys, int count, int shift, unsigned *counts) {
  __shared__ unsigned bins[kDigits];
  if (threadIdx.x < kDigits) bins[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * kSortBlock + threadIdx.x;
  if (i < count) atomicAdd(&bins[digit_of(keys[i], shift)], 1u);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Exclusive running sums in place; one block of one warp, lanes by shuffles.
static __global__ void scan_counts(unsigned *counts, int count) {
  unsigned carry = 0;
  for (int first = 0; first < count; first += 32) {
    int i = first + threadIdx.x;
    unsigned mine = i < count ? counts[i] : 0, sum = mine;
    for (int distance = 1; distance < 32; distance *= 2) {
      unsigned other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (threadIdx.x >= distance) sum += other;
    }
    if (i < count) counts[i] = carry + sum - mine;
    carry += __shfl_sync(0xffffffffu, sum, 31);
  }
}

// Moves keys and values to their places. Equal digits keep their order: a lane's rank among them is
// counted by ballots in its warp and by a table over the warps of the block.
template <class Key>
__global__ void scatter(const Key *keys, const int *values, Key *sorted_keys, int *sorted_values, int count, int shift,
                        const unsigned *offsets) {
  __shared__ unsigned in_warp[kWarps][kDigits];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int i = blockIdx.x * kSortBlock + threadIdx.x;
  for (int k = threadIdx.x; k < kWarps * kDigits; k += kSortBlock) in_warp[k / kDigits][k % kDigits] = 0;
  __syncthreads();
  const bool valid = i < count;
  Key key = valid ? keys[i] : Key(0);
  const unsigned digit = digit_of(key, shift);
  unsigned same = __ballot_sync(0xffffffffu, valid);
  for (int bit = 0; bit < kRadixBits; ++bit) {
    unsigned set = __ballot_sync(0xffffffffu, (digit >> bit) & 1u);
    same &= (digit >> bit) & 1u ? set : ~set;
  }
  const unsigned below = same & ((1u << lane) - 1u);
  if (valid && below == 0) in_warp[warp][digit] = __popc(same);
  __syncthreads();
  if (!valid) return;
  unsigned place = offsets[digit * gridDim.x + blockIdx.x] + __popc(below);
  for (int w = 0; w < warp; ++w) place += in_warp[w][digit];
  sorted_keys[place] = key;
  sorted_values[place] = values[i];
}

// Sorts in place; scratch comes from the stream's memory pool and goes back to it.
template <class Key> cudaError_t radix_sort(Key *keys, int *values, int count, cudaStream_t stream) {
  const int blocks = (count + kSortBlock - 1) / kSortBlock;
  Key *other_keys = nullptr;
  int *other_values = nullptr;
  unsigned *counts = nullptr;
  cudaError_t status = cudaMallocAsync(&other_keys, count * sizeof(Key), stream);
  if (status == cudaSuccess) status = cudaMallocAsync(&other_values, count * sizeof(int), stream);
  if (status == cudaSuccess) status = cudaMallocAsync(&counts, blocks * kDigits * sizeof(unsigned), stream);
  if (status != cudaSuccess) return status;
  for (int shift = 0; shift < int(8 * sizeof(Key)); shift += 2 * kRadixBits) {
    count_digits<Key><<<blocks, kSortBlock, 0, stream>>>(keys, count, shift, counts);
    scan_counts<<<1, 32, 0, stream>>>(counts, blocks * kDigits);
    scatter<<<blocks, kSortBlock, 0, stream>>>(keys, values, other_keys, other_values, count, shift, counts);
    count_digits<Key><<<blocks, kSortBlock, 0, stream>>>(other_keys, count, shift + kRadixBits, counts);
    scan_counts<<<1, 32, 0, stream>>>(counts, blocks * kDigits);
    scatter<<<blocks, kSortBlock, 0, stream>>>(other_keys, other_values, keys, values, count, shift + kRadixBits, counts);
  }
  status = cudaGetLastError();
  for (void *memory : {(void *)other_keys, (void *)other_values, (void *)counts}) {
    cudaError_t released = cudaFreeAsync(memory, stream);
    if (status == cudaSuccess) status = released;
  }
  return status;
}
