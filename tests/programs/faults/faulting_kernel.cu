// A kernel that writes where it must not (argument "address"), fails an assertion ("assert") or traps
// ("trap"). The error shows at the next synchronisation and stays.
#include <cassert>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

__global__ void touch(int *x) { x[threadIdx.x] += 1; }

__global__ void check_positive(const int *x) { assert(x[threadIdx.x] > 0); }

__global__ void give_up(const int *x) {
  if (x[threadIdx.x] == 0) __trap();
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "address";
  int *x, wrong = 0, value = -1;
  wrong += cudaMalloc(&x, 32 * sizeof(int)) != cudaSuccess || cudaMemset(x, 0, 32 * sizeof(int)) != cudaSuccess;
  touch<<<1, 16>>>(x);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  cudaError_t expected = cudaErrorIllegalAddress;
  if (!std::strcmp(how, "assert")) {
    expected = cudaErrorAssert;
    check_positive<<<1, 32>>>(x);
  } else if (!std::strcmp(how, "trap")) {
    expected = cudaErrorLaunchFailure;
    give_up<<<1, 32>>>(x);
  } else {
    touch<<<1, 1>>>(reinterpret_cast<int *>(16));
  }
  wrong += cudaPeekAtLastError() != cudaSuccess && cudaPeekAtLastError() != expected;
  cudaError_t seen = cudaDeviceSynchronize();
  if (seen != expected) std::fprintf(stderr, "%s: %s\n", how, cudaGetErrorName(seen)), ++wrong;
  // The device is lost to this process: every call says so.
  wrong += cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost) != expected;
  wrong += cudaDeviceSynchronize() != expected;
  touch<<<1, 1>>>(x);
  wrong += cudaGetLastError() != expected;
  std::printf("faulting_kernel: %s, %d wrong\n", how, wrong);
  return wrong != 0;
}
