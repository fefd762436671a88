// Smith-Waterman local alignment, a block a pair of sequences, anti-diagonal by anti-diagonal. Kernels report
// through printf and assert; the program also launches wrongly on purpose and expects the errors CUDA defines.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kPairs = 20;
constexpr int kLongest = 60;
constexpr int kMatch = 3, kMismatch = -2, kGap = -2;

void require(cudaError_t status, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
  std::exit(2);
}
#define REQUIRE(call) require((call), __LINE__)

struct Batch {
  const char *left, *right;  // kLongest bytes a sequence
  const int *left_length, *right_length;
};

struct Best {
  int score, row, column;
};

__host__ __device__ inline int similarity(char a, char b) { return a == b ? kMatch : kMismatch; }

__host__ __device__ inline int larger(int a, int b) { return a > b ? a : b; }

}  // namespace

// A block a pair, a thread a column; three anti-diagonals live in dynamic shared memory.
__global__ void align(Batch batch, Best *best, int *cells) {
  extern __shared__ int diagonals[];  // 3 * (kLongest + 1), then the best of each thread
  const int pair = blockIdx.x, column = threadIdx.x + 1, width = kLongest + 1;
  const int rows = batch.left_length[pair], columns = batch.right_length[pair];
  assert(rows <= kLongest && columns <= kLongest);
  const char *left = batch.left + pair * kLongest, *right = batch.right + pair * kLongest;
  Best *bests = (Best *)(diagonals + 3 * width);
  for (int i = threadIdx.x; i < 3 * width; i += blockDim.x) diagonals[i] = 0;
  Best mine = {0, 0, 0};
  __syncthreads();
  for (int step = 2; step <= rows + columns; ++step) {
    int *now = diagonals + (step % 3) * width;
    const int *last = diagonals + ((step + 2) % 3) * width, *before = diagonals + ((step + 1) % 3) * width;
    const int row = step - column;
    int score = 0;
    if (column <= columns && row >= 1 && row <= rows) {
      int up = row > 1 ? last[column] : 0, side = column > 1 ? last[column - 1] : 0;
      int corner = row > 1 && column > 1 ? before[column - 1] : 0;
      score = larger(0, corner + similarity(left[row - 1], right[column - 1]));
      score = larger(score, larger(up, side) + kGap);
      if (score > mine.score) mine = Best{score, row, column};
      atomicAdd(cells, 1);
    }
    __syncthreads();
    if (column <= kLongest) now[column] = score;
    __syncthreads();
  }
  bests[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < blockDim.x; ++t)
    if (bests[t].score > mine.score || (bests[t].score == mine.score && bests[t].row < mine.row)) mine = bests[t];
  best[pair] = mine;
}

// Says which pair aligns best.
__global__ void announce(const Best *best, int pairs, int *winner) {
  int first = 0;
  for (int i = 1; i < pairs; ++i)
    if (best[i].score > best[first].score) first = i;
  assert(best[first].score > 0);
  printf("pair %d scores %d, ends at (%d, %d)\n", first, best[first].score, best[first].row, best[first].column);
  *winner = first;
}

__global__ void __launch_bounds__(64) touch(int *value) { *value += 1; }

static Best reference(const std::string &left, const std::string &right, long &cells) {
  std::vector<std::vector<int>> score(left.size() + 1, std::vector<int>(right.size() + 1, 0));
  Best best = {0, 0, 0};
  for (size_t j = 1; j <= right.size(); ++j)
    for (size_t i = 1; i <= left.size(); ++i) {
      int value = larger(0, score[i - 1][j - 1] + similarity(left[i - 1], right[j - 1]));
      value = larger(value, larger(score[i - 1][j], score[i][j - 1]) + kGap);
      score[i][j] = value;
      ++cells;
      if (value > best.score || (value == best.score && value > 0 && int(i) < best.row))
        best = Best{value, int(i), int(j)};
    }
  return best;
}

static std::string make_sequence(unsigned &state, int length) {
  std::string text;
  for (int i = 0; i < length; ++i) {
    state = state * 1664525u + 1013904223u;
    text += "ACGT"[state >> 30];
  }
  return text;
}

// Errors that a program may rely on. Each is reported once, then the slate is clean. CUDA 12 says that a
// configuration is invalid where CUDA 13 says that a value is.
static int wrong_launches(int *device_value) {
  int wrong = 0;
  auto expect = [&wrong](cudaError_t wanted, const char *what, cudaError_t or_else) {
    cudaError_t peeked = cudaPeekAtLastError(), first = cudaGetLastError(), second = cudaGetLastError();
    if ((peeked == wanted || peeked == or_else) && first == peeked && second == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s, %s, %s\n", what, cudaGetErrorName(peeked), cudaGetErrorName(first),
                 cudaGetErrorName(second));
    ++wrong;
  };
  auto expect_refusal = [&expect](const char *what) {
    expect(cudaErrorInvalidValue, what, cudaErrorInvalidConfiguration);
  };
  touch<<<1, 2048>>>(device_value);
  expect_refusal("too many threads");
  touch<<<1, 128>>>(device_value);
  expect_refusal("more threads than the bounds allow");
  touch<<<0, 32>>>(device_value);
  expect_refusal("no blocks");
  touch<<<1, dim3(1, 1, 128)>>>(device_value);
  expect_refusal("block too deep");
  touch<<<1, 32, 1 << 20>>>(device_value);
  expect_refusal("too much shared memory");
  void *memory = nullptr;
  if (cudaMalloc(&memory, size_t(1) << 60) != cudaErrorMemoryAllocation || memory != nullptr) ++wrong;
  expect(cudaErrorMemoryAllocation, "too much memory", cudaErrorMemoryAllocation);
  int local = 0;
  if (cudaMemcpy(&local, device_value, sizeof local, static_cast<cudaMemcpyKind>(77)) != cudaErrorInvalidMemcpyDirection)
    ++wrong;
  expect(cudaErrorInvalidMemcpyDirection, "no such direction", cudaErrorInvalidMemcpyDirection);
  touch<<<1, 1>>>(device_value);
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaMemcpy(&local, device_value, sizeof local, cudaMemcpyDeviceToHost));
  return wrong + (local != 1);
}

int main() {
  unsigned state = 4321u;
  std::vector<std::string> lefts, rights;
  std::vector<char> left(kPairs * kLongest, '-'), right(kPairs * kLongest, '-');
  std::vector<int> left_length, right_length;
  for (int p = 0; p < kPairs; ++p) {
    lefts.push_back(make_sequence(state, 30 + (p * 13) % 31));
    rights.push_back(p % 4 == 1 ? "GG" + lefts[p].substr(5, 20 + p % 5) + "TT" : make_sequence(state, 25 + (p * 7) % 33));
    std::copy(lefts[p].begin(), lefts[p].end(), left.begin() + p * kLongest);
    std::copy(rights[p].begin(), rights[p].end(), right.begin() + p * kLongest);
    left_length.push_back(int(lefts[p].size()));
    right_length.push_back(int(rights[p].size()));
  }
  char *device_text;
  int *device_lengths, *device_integers;
  Best *device_best;
  REQUIRE(cudaMalloc(&device_text, 2 * left.size()));
  REQUIRE(cudaMalloc(&device_lengths, 2 * kPairs * sizeof(int)));
  REQUIRE(cudaMalloc(&device_integers, 3 * sizeof(int)));
  REQUIRE(cudaMalloc(&device_best, kPairs * sizeof(Best)));
  REQUIRE(cudaMemset(device_integers, 0, 3 * sizeof(int)));
  REQUIRE(cudaMemcpy(device_text, left.data(), left.size(), cudaMemcpyHostToDevice));
  REQUIRE(cudaMemcpy(device_text + left.size(), right.data(), right.size(), cudaMemcpyHostToDevice));
  REQUIRE(cudaMemcpy(device_lengths, left_length.data(), kPairs * sizeof(int), cudaMemcpyHostToDevice));
  REQUIRE(cudaMemcpy(device_lengths + kPairs, right_length.data(), kPairs * sizeof(int), cudaMemcpyHostToDevice));
  Batch batch{device_text, device_text + left.size(), device_lengths, device_lengths + kPairs};

  const int threads = 64;
  const size_t shared = 3 * (kLongest + 1) * sizeof(int) + threads * sizeof(Best);
  align<<<kPairs, threads, shared>>>(batch, device_best, device_integers);
  REQUIRE(cudaGetLastError());
  announce<<<1, 1>>>(device_best, kPairs, device_integers + 1);
  REQUIRE(cudaGetLastError());
  std::fflush(stdout);
  REQUIRE(cudaDeviceSynchronize());

  std::vector<Best> best(kPairs);
  int integers[3];
  REQUIRE(cudaMemcpy(best.data(), device_best, kPairs * sizeof(Best), cudaMemcpyDeviceToHost));
  REQUIRE(cudaMemcpy(integers, device_integers, sizeof integers, cudaMemcpyDeviceToHost));
  int wrong = 0, winner = 0;
  long cells = 0, total = 0;
  for (int p = 0; p < kPairs; ++p) {
    Best expected = reference(lefts[p], rights[p], cells);
    wrong += best[p].score != expected.score;
    total += best[p].score;
    if (best[p].score > best[winner].score) winner = p;
  }
  wrong += integers[0] != cells;
  wrong += integers[1] != winner;
  wrong += wrong_launches(device_integers + 2);

  REQUIRE(cudaFree(device_text));
  REQUIRE(cudaFree(device_lengths));
  REQUIRE(cudaFree(device_integers));
  REQUIRE(cudaFree(device_best));
  std::printf("alignment: %d pairs, %ld cells, scores %ld, %d wrong: %s\n", kPairs, cells, total, wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
