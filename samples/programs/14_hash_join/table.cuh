// Open addressing over 64-bit keys, claimed by compare and swap; a class passed to kernels by value.
#pragma once
#include <cstdint>

#include <cuda_runtime.h>

class Table {
 public:
  // A power of two of slots, all empty.
  cudaError_t create(int slots) {
    mask_ = slots - 1;
    cudaError_t status = cudaMalloc((void **)&keys_, slots * sizeof(unsigned long long));
    if (status == cudaSuccess) status = cudaMalloc((void **)&rows_, slots * sizeof(int));
    if (status == cudaSuccess) status = cudaMemset(keys_, 0, slots * sizeof(unsigned long long));
    if (status == cudaSuccess) status = cudaMemset(rows_, 0xff, slots * sizeof(int));
    return status;
  }

  cudaError_t destroy() {
    cudaError_t status = cudaFree(keys_);
    return status != cudaSuccess ? status : cudaFree(rows_);
  }

  // Keys are not zero and each comes once.
  __device__ void insert(uint64_t key, int row) {
    for (unsigned slot = hash(key);; slot = (slot + 1) & mask_) {
      unsigned long long before = atomicCAS(&keys_[slot], 0ull, (unsigned long long)key);
      if (before == 0 || before == key) {
        atomicExch(&rows_[slot], row);
        return;
      }
    }
  }

  // The row of a key, or -1.
  __device__ int find(uint64_t key) const {
    for (unsigned slot = hash(key);; slot = (slot + 1) & mask_) {
      unsigned long long seen = keys_[slot];
      if (seen == key) return rows_[slot];
      if (seen == 0) return -1;
    }
  }

 private:
  __device__ unsigned hash(uint64_t key) const {
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93ull;
    key ^= key >> 32;
    return unsigned(key) & mask_;
  }

  unsigned long long *keys_ = nullptr;
  int *rows_ = nullptr;
  unsigned mask_ = 0;
};
