// A host program that forks: before it uses the device, and while it does. Children that keep their hands
// off the device end as usual; the parent's streams go on.
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void add(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += i;
}

static int use_device() {
  const int n = 1000;
  int *x, host[n], wrong = 0;
  cudaStream_t stream;
  wrong += cudaStreamCreate(&stream) != cudaSuccess || cudaMalloc(&x, sizeof host) != cudaSuccess;
  wrong += cudaMemsetAsync(x, 0, sizeof host, stream) != cudaSuccess;
  for (int round = 0; round < 5; ++round) add<<<8, 128, 0, stream>>>(x, n);
  wrong += cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream) != cudaSuccess;
  wrong += cudaStreamSynchronize(stream) != cudaSuccess;
  for (int i = 0; i < n; ++i) wrong += host[i] != 5 * i;
  wrong += cudaFree(x) != cudaSuccess || cudaStreamDestroy(stream) != cudaSuccess;
  return wrong;
}

static int status_of(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 100;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

int main() {
  pid_t child = fork();
  if (child == 0) _exit(use_device() ? 1 : 0);
  int wrong = status_of(child) != 0;  // the device was not used before: the child may have it
  wrong += use_device();

  int *x;
  cudaStream_t stream;
  wrong += cudaStreamCreate(&stream) != cudaSuccess || cudaMalloc(&x, 4096) != cudaSuccess;
  wrong += cudaMemsetAsync(x, 0, 4096, stream) != cudaSuccess;
  for (int round = 0; round < 50; ++round) add<<<8, 128, 0, stream>>>(x, 1024);
  child = fork();
  if (child == 0) _exit(23);  // runs no exit handler
  wrong += status_of(child) != 23;
  child = fork();
  if (child == 0) std::exit(24);  // runs exit handlers and destructors
  wrong += status_of(child) != 24;
  child = fork();
  if (child == 0) {
    // A child of a process that used the device has none (as with CUDA) or a fresh one; it never waits
    // without end.
    void *memory = nullptr;
    if (cudaMalloc(&memory, 64) != cudaSuccess) _exit(25);
    _exit(use_device() ? 26 : 25);
  }
  wrong += status_of(child) != 25;
  for (int round = 0; round < 50; ++round) add<<<8, 128, 0, stream>>>(x, 1024);
  int host[1024];
  wrong += cudaMemcpyAsync(host, x, 4096, cudaMemcpyDeviceToHost, stream) != cudaSuccess;
  wrong += cudaStreamSynchronize(stream) != cudaSuccess;
  for (int i = 0; i < 1024; ++i) wrong += host[i] != 100 * i;
  std::printf("forking_host: %d wrong\n", wrong);
  return wrong != 0;
}
