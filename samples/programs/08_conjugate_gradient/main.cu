// Conjugate gradients for a five-point Laplacian in compressed rows: the whole iteration is one cooperative
// kernel that synchronises the grid, dots are reduced by tiles of cooperative groups.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace {

constexpr int kSide = 24;
constexpr int kUnknowns = kSide * kSide;
constexpr int kBlock = 64;
constexpr int kMaxRounds = 60;
constexpr double kTolerance = 1e-16;  // of the squared residual

void require(cudaError_t status, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
  std::exit(2);
}
#define REQUIRE(call) require((call), __LINE__)

struct Matrix {
  const int *row_start;
  const int *column;
  const double *value;
  int rows;
};

struct Vectors {
  double *x, *r, *p, *ap;
};

// dots[0]: r.r of even rounds, dots[1]: r.r of odd rounds, dots[2..3]: p.Ap of even and odd rounds
struct State {
  double dots[4];
  int rounds;
};

}  // namespace

// Adds a value of each thread to *target: a tile of 16 threads first, one atomic a tile.
__device__ void accumulate(const cg::thread_block &block, double value, double *target) {
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  if (tile.thread_rank() == 0) atomicAdd(target, value);
}

__device__ double row_times(const Matrix &matrix, int row, const double *vector) {
  double sum = 0.0;
  for (int e = matrix.row_start[row]; e < matrix.row_start[row + 1]; ++e)
    sum += matrix.value[e] * vector[matrix.column[e]];
  return sum;
}

__global__ void solve(Matrix matrix, Vectors v, State *state, double tolerance, int max_rounds) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  const int first = int(grid.thread_rank()), stride = int(grid.size());
  double partial = 0.0;
  for (int i = first; i < matrix.rows; i += stride) {
    v.p[i] = v.r[i];
    partial += v.r[i] * v.r[i];
  }
  accumulate(block, partial, &state->dots[0]);
  grid.sync();
  int round = 0;
  for (; round < max_rounds; ++round) {
    const int even = round % 2;
    const double squared = state->dots[even];
    if (squared <= tolerance) break;
    partial = 0.0;
    for (int i = first; i < matrix.rows; i += stride) {
      v.ap[i] = row_times(matrix, i, v.p);
      partial += v.p[i] * v.ap[i];
    }
    if (grid.thread_rank() == 0) state->dots[1 - even] = 0.0;
    accumulate(block, partial, &state->dots[2 + even]);
    grid.sync();
    const double alpha = squared / state->dots[2 + even];
    partial = 0.0;
    for (int i = first; i < matrix.rows; i += stride) {
      v.x[i] += alpha * v.p[i];
      v.r[i] -= alpha * v.ap[i];
      partial += v.r[i] * v.r[i];
    }
    if (grid.thread_rank() == 0) state->dots[3 - even] = 0.0;
    accumulate(block, partial, &state->dots[1 - even]);
    grid.sync();
    const double beta = state->dots[1 - even] / squared;
    for (int i = first; i < matrix.rows; i += stride) v.p[i] = v.r[i] + beta * v.p[i];
    grid.sync();
  }
  if (grid.thread_rank() == 0) state->rounds = round;
}

// r = b - A x, for a zero x just b.
__global__ void start(const double *right, Vectors v, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  v.x[i] = 0.0;
  v.r[i] = right[i];
}

// Largest residual of a row by warps: the maximum of b - A x as a non-negative double, by compare and swap.
__global__ void largest_residual(Matrix matrix, const double *x, const double *right, unsigned long long *largest) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int i = block.group_index().x * block.group_dim().x + block.thread_index().x;
  float difference = 0.0f;
  if (i < matrix.rows) difference = float(fabs(right[i] - row_times(matrix, i, x)));
  difference = cg::reduce(warp, difference, cg::greater<float>());
  if (warp.thread_rank() != 0) return;
  unsigned long long seen = *largest;
  while (difference > __longlong_as_double((long long)seen)) {
    unsigned long long before = atomicCAS(largest, seen, (unsigned long long)__double_as_longlong(difference));
    if (before == seen) break;
    seen = before;
  }
}

struct HostMatrix {
  std::vector<int> row_start{0}, column;
  std::vector<double> value;
};

static HostMatrix laplacian() {
  HostMatrix matrix;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      auto add = [&](int cx, int cy, double value) {
        if (cx < 0 || cy < 0 || cx >= kSide || cy >= kSide) return;
        matrix.column.push_back(cy * kSide + cx);
        matrix.value.push_back(value);
      };
      add(x, y - 1, -1.0);
      add(x - 1, y, -1.0);
      add(x, y, 4.25);
      add(x + 1, y, -1.0);
      add(x, y + 1, -1.0);
      matrix.row_start.push_back(int(matrix.column.size()));
    }
  return matrix;
}

static std::vector<double> multiply(const HostMatrix &matrix, const std::vector<double> &x) {
  std::vector<double> result(x.size(), 0.0);
  for (size_t i = 0; i < x.size(); ++i)
    for (int e = matrix.row_start[i]; e < matrix.row_start[i + 1]; ++e) result[i] += matrix.value[e] * x[matrix.column[e]];
  return result;
}

static double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

static int reference(const HostMatrix &matrix, const std::vector<double> &right, std::vector<double> &x) {
  std::vector<double> r = right, p = right;
  x.assign(right.size(), 0.0);
  double squared = dot(r, r);
  int round = 0;
  for (; round < kMaxRounds && squared > kTolerance; ++round) {
    std::vector<double> ap = multiply(matrix, p);
    double alpha = squared / dot(p, ap);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * ap[i];
    }
    double next = dot(r, r);
    for (size_t i = 0; i < x.size(); ++i) p[i] = r[i] + next / squared * p[i];
    squared = next;
  }
  return round;
}

template <class T> static T *upload(const std::vector<T> &values) {
  T *memory;
  REQUIRE(cudaMalloc(&memory, values.size() * sizeof(T)));
  REQUIRE(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

int main() {
  const HostMatrix host = laplacian();
  std::vector<double> truth(kUnknowns);
  for (int i = 0; i < kUnknowns; ++i) truth[i] = std::sin(0.1 * i) + 0.01 * (i % 7);
  const std::vector<double> right = multiply(host, truth);
  std::vector<double> expected;
  const int expected_rounds = reference(host, right, expected);

  int cooperative = 0, processors = 0, per_processor = 0;
  REQUIRE(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  REQUIRE(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, solve, kBlock, 0));
  int wrong = cooperative ? 0 : 1;
  int blocks = processors * per_processor;
  if (blocks > 5) blocks = 5;

  Matrix matrix{upload(host.row_start), upload(host.column), upload(host.value), kUnknowns};
  double *device_right = upload(right), *memory;
  REQUIRE(cudaMalloc(&memory, 4 * kUnknowns * sizeof(double)));
  Vectors vectors{memory, memory + kUnknowns, memory + 2 * kUnknowns, memory + 3 * kUnknowns};
  State *state;
  REQUIRE(cudaMalloc(&state, sizeof(State)));
  REQUIRE(cudaMemset(state, 0, sizeof(State)));
  unsigned long long *largest;
  REQUIRE(cudaMalloc(&largest, sizeof *largest));
  REQUIRE(cudaMemset(largest, 0, sizeof *largest));

  start<<<(kUnknowns + kBlock - 1) / kBlock, kBlock>>>(device_right, vectors, kUnknowns);
  double tolerance = kTolerance;
  int max_rounds = kMaxRounds;
  void *arguments[] = {&matrix, &vectors, &state, &tolerance, &max_rounds};
  REQUIRE(cudaLaunchCooperativeKernel((void *)solve, dim3(blocks), dim3(kBlock), arguments, 0, nullptr));
  largest_residual<<<(kUnknowns + kBlock - 1) / kBlock, kBlock>>>(matrix, vectors.x, device_right, largest);
  REQUIRE(cudaGetLastError());
  State final_state;
  std::vector<double> x(kUnknowns);
  double residual = -1.0;
  REQUIRE(cudaMemcpy(&final_state, state, sizeof final_state, cudaMemcpyDeviceToHost));
  REQUIRE(cudaMemcpy(x.data(), vectors.x, kUnknowns * sizeof(double), cudaMemcpyDeviceToHost));
  REQUIRE(cudaMemcpy(&residual, largest, sizeof residual, cudaMemcpyDeviceToHost));

  wrong += std::abs(final_state.rounds - expected_rounds) > 1 || final_state.rounds == kMaxRounds;
  wrong += !(residual >= 0.0 && residual <= 1e-7);
  for (int i = 0; i < kUnknowns; ++i) wrong += !(std::fabs(x[i] - truth[i]) <= 1e-7);

  for (const void *pointer : {(const void *)matrix.row_start, (const void *)matrix.column, (const void *)matrix.value,
                              (const void *)device_right, (const void *)memory, (const void *)state,
                              (const void *)largest})
    REQUIRE(cudaFree((void *)pointer));
  std::printf("conjugate_gradient: %d unknowns, %d wrong: %s\n", kUnknowns, wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
