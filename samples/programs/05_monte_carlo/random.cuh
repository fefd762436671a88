// A counter-based generator: the bits for (path, step) depend on nothing else, so any split of the
// paths over devices, blocks and threads gives the same paths.
#pragma once
#include <cstdint>

__host__ __device__ inline uint64_t scramble(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Sum of 12 uniform numbers minus 6: near enough to a normal variate, and exact on any machine,
// as 16-bit integers are summed.
__host__ __device__ inline int64_t normal_steps(uint64_t seed, uint32_t path, uint32_t step) {
  int64_t sum = 0;
  for (uint32_t part = 0; part < 3; ++part) {
    uint64_t bits = scramble(seed + (uint64_t(path) << 20) + (step * 4u + part) * 0x9e3779b97f4a7c15ull);
    for (int piece = 0; piece < 4; ++piece) sum += int64_t((bits >> (16 * piece)) & 0xffffu);
  }
  return sum - 6 * 65536;  // in 1 / 65536
}
