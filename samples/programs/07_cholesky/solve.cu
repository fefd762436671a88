#include "solve.h"

namespace {

// Named like a kernel of main.cu on purpose: both are local to their files.
__global__ void clear_upper(double *scratch, int size) {
  for (int i = threadIdx.x; i < size; i += blockDim.x) scratch[i] = 0.0;
}

constexpr int kThreads = 64;

// One block: L y = b, column by column, the dots kept in scratch.
__global__ void forward(const double *factor, double *vector, double *scratch, int size) {
  for (int k = 0; k < size; ++k) {
    if (threadIdx.x == 0) vector[k] = (vector[k] - scratch[k]) / factor[k * size + k];
    __syncthreads();
    double value = vector[k];
    for (int i = k + 1 + threadIdx.x; i < size; i += kThreads) scratch[i] += factor[i * size + k] * value;
    __syncthreads();
  }
}

__global__ void backward(const double *factor, double *vector, double *scratch, int size) {
  for (int k = size - 1; k >= 0; --k) {
    if (threadIdx.x == 0) vector[k] = (vector[k] - scratch[k]) / factor[k * size + k];
    __syncthreads();
    double value = vector[k];
    for (int i = threadIdx.x; i < k; i += kThreads) scratch[i] += factor[k * size + i] * value;
    __syncthreads();
  }
}

using Substitution = void (*)(const double *, double *, double *, int);

void run(Substitution substitution, const double *factor, double *vector, double *scratch, int size) {
  clear_upper<<<1, kThreads>>>(scratch, size);
  substitution<<<1, kThreads>>>(factor, vector, scratch, size);
}

}  // namespace

cudaError_t solve_factored(const double *factor, double *vector, int size) {
  double *scratch = nullptr;
  cudaError_t status = cudaMalloc((void **)&scratch, size * sizeof(double));
  if (status != cudaSuccess) return status;
  run(forward, factor, vector, scratch, size);
  run(backward, factor, vector, scratch, size);
  status = cudaDeviceSynchronize();
  cudaError_t released = cudaFree(scratch);
  return status != cudaSuccess ? status : released;
}
