// Blocked Cholesky factorisation and the solution of A x = b. Kernels are static, forward-declared, in
// anonymous namespaces, launched by macros and from templates.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "solve.h"

#define REQUIRE(call)                                                                            \
  do {                                                                                           \
    if (cudaError_t status = (call); status != cudaSuccess) {                                    \
      std::fprintf(stderr, "%s failed at line %d: %s\n", #call, __LINE__, cudaGetErrorString(status)); \
      std::exit(2);                                                                              \
    }                                                                                            \
  } while (0)

// Launches and checks; the kernel comes in parentheses when its name has commas.
#define LAUNCH(kernel, grid, block, shared, ...)   \
  do {                                             \
    kernel<<<(grid), (block), (shared)>>>(__VA_ARGS__); \
    REQUIRE(cudaGetLastError());                   \
  } while (0)

template <class T, int N> __global__ void update_trailing(T *matrix, int size, int first);
static __global__ void count_nonpositive(const double *matrix, int size, int *count);

namespace {

constexpr int kSize = 96;
constexpr int kBlock = 16;

// Factors the diagonal block in place; one block of N x N threads.
template <class T, int N> __global__ void factor_diagonal(T *matrix, int size, int first) {
  __shared__ T tile[N][N + 1];
  int row = threadIdx.y, column = threadIdx.x;
  tile[row][column] = matrix[(first + row) * size + first + column];
  __syncthreads();
  for (int k = 0; k < N; ++k) {
    if (row == k && column == k) tile[k][k] = sqrt(tile[k][k]);
    __syncthreads();
    if (column == k && row > k) tile[row][k] /= tile[k][k];
    __syncthreads();
    if (column > k && row >= column) tile[row][column] -= tile[row][k] * tile[column][k];
    __syncthreads();
  }
  matrix[(first + row) * size + first + column] = column <= row ? tile[row][column] : T(0);
}

// Solves X L^T = A for the blocks under the diagonal: a thread a row, the diagonal in dynamic shared memory.
template <class T, int N> __global__ void solve_panel(T *matrix, int size, int first) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T *diagonal = reinterpret_cast<T *>(bytes);
  for (int i = threadIdx.x; i < N * N; i += blockDim.x)
    diagonal[i] = matrix[(first + i / N) * size + first + i % N];
  __syncthreads();
  int row = first + N + blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= size) return;
  T *line = matrix + row * size + first;
  for (int k = 0; k < N; ++k) {
    T value = line[k];
    for (int j = 0; j < k; ++j) value -= line[j] * diagonal[k * N + j];
    line[k] = value / diagonal[k * N + k];
  }
}

// Clears what lies above the diagonal.
__global__ void clear_upper(double *matrix, int size) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < size && column < size && column > row) matrix[row * size + column] = 0.0;
}

// The steps of the factorisation, for any element type and tile: a template that launches templates.
template <class T, int N> void factor(T *matrix, int size) {
  const size_t shared = N * N * sizeof(T);
  REQUIRE(cudaFuncSetAttribute(solve_panel<T, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, factor_diagonal<T, N>));
  if (attributes.maxThreadsPerBlock < N * N) std::exit(2);
  for (int first = 0; first < size; first += N) {
    LAUNCH((factor_diagonal<T, N>), 1, dim3(N, N), 0, matrix, size, first);
    const int below = size - first - N;
    if (below <= 0) break;
    LAUNCH((solve_panel<T, N>), (below + 31) / 32, 32, shared, matrix, size, first);
    const int tiles = below / N;
    LAUNCH((update_trailing<T, N>), dim3(tiles, tiles), dim3(N, N), 0, matrix, size, first);
  }
}

}  // namespace

// Subtracts P P^T from the trailing matrix, P the panel just solved.
template <class T, int N> __global__ void update_trailing(T *matrix, int size, int first) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ T left[N][N], right[N][N + 1];
  int row = first + N + blockIdx.y * N + threadIdx.y, column = first + N + blockIdx.x * N + threadIdx.x;
  left[threadIdx.y][threadIdx.x] = matrix[row * size + first + threadIdx.x];
  right[threadIdx.y][threadIdx.x] = matrix[(first + N + blockIdx.x * N + threadIdx.y) * size + first + threadIdx.x];
  __syncthreads();
  T sum = 0;
  for (int k = 0; k < N; ++k) sum += left[threadIdx.y][k] * right[threadIdx.x][k];
  matrix[row * size + column] -= sum;
}

static __global__ void count_nonpositive(const double *matrix, int size, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size && !(matrix[i * size + i] > 0.0)) atomicAdd(count, 1);
}

static std::vector<double> make_matrix() {
  std::vector<double> factor(kSize * kSize, 0.0), matrix(kSize * kSize, 0.0);
  unsigned state = 99u;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j <= i; ++j) {
      state = state * 1664525u + 1013904223u;
      factor[i * kSize + j] = i == j ? 4.0 + (state >> 24) / 128.0 : int(state >> 20) / 2048.0 - 1.0;
    }
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j)
      for (int k = 0; k < kSize; ++k) matrix[i * kSize + j] += factor[i * kSize + k] * factor[j * kSize + k];
  return matrix;
}

static std::vector<double> reference_factor(std::vector<double> a) {
  for (int k = 0; k < kSize; ++k) {
    a[k * kSize + k] = std::sqrt(a[k * kSize + k]);
    for (int i = k + 1; i < kSize; ++i) a[i * kSize + k] /= a[k * kSize + k];
    for (int j = k + 1; j < kSize; ++j)
      for (int i = j; i < kSize; ++i) a[i * kSize + j] -= a[i * kSize + k] * a[j * kSize + k];
    for (int j = k + 1; j < kSize; ++j) a[k * kSize + j] = 0.0;
  }
  return a;
}

int main() {
  const std::vector<double> matrix = make_matrix(), expected = reference_factor(matrix);
  const size_t bytes = matrix.size() * sizeof(double);
  double *device;
  int *nonpositive;
  REQUIRE(cudaMalloc(&device, bytes));
  REQUIRE(cudaMalloc(&nonpositive, sizeof(int)));
  REQUIRE(cudaMemset(nonpositive, 0, sizeof(int)));
  REQUIRE(cudaMemcpy(device, matrix.data(), bytes, cudaMemcpyHostToDevice));
  factor<double, kBlock>(device, kSize);
  LAUNCH(clear_upper, dim3(kSize / 16, kSize / 16), dim3(16, 16), 0, device, kSize);
  LAUNCH(count_nonpositive, (kSize + 63) / 64, 64, 0, device, kSize, nonpositive);
  std::vector<double> result(matrix.size());
  int bad = -1;
  REQUIRE(cudaMemcpy(result.data(), device, bytes, cudaMemcpyDeviceToHost));
  REQUIRE(cudaMemcpy(&bad, nonpositive, sizeof bad, cudaMemcpyDeviceToHost));
  int wrong = bad;
  for (size_t i = 0; i < result.size(); ++i)
    wrong += !(std::fabs(result[i] - expected[i]) <= 1e-9 * (1.0 + std::fabs(expected[i])));

  // The same in single precision with a smaller tile, judged by the residual.
  std::vector<float> single(matrix.begin(), matrix.end());
  float *single_device;
  REQUIRE(cudaMalloc(&single_device, single.size() * sizeof(float)));
  REQUIRE(cudaMemcpy(single_device, single.data(), single.size() * sizeof(float), cudaMemcpyHostToDevice));
  factor<float, 8>(single_device, kSize);
  REQUIRE(cudaMemcpy(single.data(), single_device, single.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j <= i; ++j)
      wrong += !(std::fabs(single[i * kSize + j] - expected[i * kSize + j]) <= 2e-3);

  // Solve with the factor; the right side makes x = 1, 2, 3, ...
  std::vector<double> right(kSize, 0.0), solution(kSize);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) right[i] += matrix[i * kSize + j] * (j + 1);
  double *vector;
  REQUIRE(cudaMalloc(&vector, kSize * sizeof(double)));
  REQUIRE(cudaMemcpy(vector, right.data(), kSize * sizeof(double), cudaMemcpyHostToDevice));
  REQUIRE(solve_factored(device, vector, kSize));
  REQUIRE(cudaMemcpy(solution.data(), vector, kSize * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kSize; ++i) wrong += !(std::fabs(solution[i] - (i + 1)) <= 1e-7 * (i + 1));

  REQUIRE(cudaFree(vector));
  REQUIRE(cudaFree(single_device));
  REQUIRE(cudaFree(nonpositive));
  REQUIRE(cudaFree(device));
  std::printf("cholesky: %dx%d in tiles of %d and 8, %d wrong: %s\n", kSize, kSize, kBlock, wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
