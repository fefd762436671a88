// Lloyd's k-means over managed memory, centroids in constant memory, sums by float atomics.
// Coordinates are whole numbers, so sums are exact in any order and labels can be compared exactly.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

constexpr int kDimensions = 4;
constexpr int kClusters = 6;
constexpr int kPoints = 6000;
constexpr int kRounds = 8;
constexpr int kBlock = 128;

struct Centroids {
  float at[kClusters][kDimensions];
};

__constant__ Centroids centroids;
__managed__ unsigned moved;
__managed__ unsigned long long squared_distance;  // of all points, rounded down a point

static void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorString(status), cudaGetErrorName(status));
  std::exit(2);
}

__host__ __device__ inline float distance_to(const float *point, const float *centre) {
  float sum = 0.0f;
  for (int d = 0; d < kDimensions; ++d) {
    float difference = point[d] - centre[d];
#ifdef __CUDA_ARCH__
    sum = __fmaf_rn(difference, difference, sum);
#else
    sum = std::fma(difference, difference, sum);
#endif
  }
  return sum;
}

// Labels a point with its nearest centroid; counts those that changed.
__global__ void assign_points(const float *points, int *labels, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float best = distance_to(points + i * kDimensions, centroids.at[0]);
  int label = 0;
  for (int c = 1; c < kClusters; ++c) {
    float candidate = distance_to(points + i * kDimensions, centroids.at[c]);
    if (candidate < best) {
      best = candidate;
      label = c;
    }
  }
  if (labels[i] != label) {
    labels[i] = label;
    atomicAdd(&moved, 1u);
  }
  atomicAdd(&squared_distance, (unsigned long long)best);
}

// Sums the members of each cluster in shared memory, then over the blocks.
__global__ void __launch_bounds__(kBlock) sum_members(const float *__restrict__ points,
                                                      const int *__restrict__ labels, float *sums, int *sizes,
                                                      int count) {
  __shared__ float block_sums[kClusters * kDimensions];
  __shared__ int block_sizes[kClusters];
  for (int k = threadIdx.x; k < kClusters * kDimensions; k += blockDim.x) block_sums[k] = 0.0f;
  if (threadIdx.x < kClusters) block_sizes[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    int label = labels[i];
    atomicAdd(&block_sizes[label], 1);
    for (int d = 0; d < kDimensions; ++d)
      atomicAdd(&block_sums[label * kDimensions + d], points[i * kDimensions + d]);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kClusters * kDimensions; k += blockDim.x)
    if (block_sums[k] != 0.0f) atomicAdd(&sums[k], block_sums[k]);
  if (threadIdx.x < kClusters) atomicAdd(&sizes[threadIdx.x], block_sizes[threadIdx.x]);
}

__global__ void divide_sums(const float *sums, const int *sizes, Centroids *next) {
  int c = threadIdx.y, d = threadIdx.x;
  if (sizes[c] > 0) next->at[c][d] = __fdiv_rn(sums[c * kDimensions + d], (float)sizes[c]);
}

static uint32_t next_random(uint32_t &state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static void fill_points(float *points) {
  uint32_t state = 0x9e3779b9u;
  for (int i = 0; i < kPoints; ++i) {
    int home = int(next_random(state) % kClusters);
    for (int d = 0; d < kDimensions; ++d) {
      int centre = 30 + ((home * 53 + d * 91) % 190);
      points[i * kDimensions + d] = float(centre + int(next_random(state) % 41) - 20);
    }
  }
}

struct Outcome {
  std::vector<int> labels;
  std::vector<unsigned> moves;
  std::vector<unsigned long long> costs;
  Centroids centres;
};

static Outcome reference(const float *points, Centroids centres) {
  Outcome outcome{std::vector<int>(kPoints, -1), {}, {}, centres};
  for (int round = 0; round < kRounds; ++round) {
    float sums[kClusters][kDimensions] = {};
    int sizes[kClusters] = {};
    unsigned moves = 0;
    unsigned long long cost = 0;
    for (int i = 0; i < kPoints; ++i) {
      const float *point = points + i * kDimensions;
      int label = 0;
      float best = distance_to(point, outcome.centres.at[0]);
      for (int c = 1; c < kClusters; ++c) {
        float candidate = distance_to(point, outcome.centres.at[c]);
        if (candidate < best) {
          best = candidate;
          label = c;
        }
      }
      moves += outcome.labels[i] != label;
      outcome.labels[i] = label;
      cost += (unsigned long long)best;
      ++sizes[label];
      for (int d = 0; d < kDimensions; ++d) sums[label][d] += point[d];
    }
    for (int c = 0; c < kClusters; ++c)
      for (int d = 0; d < kDimensions && sizes[c]; ++d) outcome.centres.at[c][d] = sums[c][d] / float(sizes[c]);
    outcome.moves.push_back(moves);
    outcome.costs.push_back(cost);
  }
  return outcome;
}

int main() {
  float *points, *sums;
  int *labels, *sizes;
  Centroids *next;
  require(cudaMallocManaged(&points, kPoints * kDimensions * sizeof(float)), "points");
  require(cudaMallocManaged(&labels, kPoints * sizeof(int), cudaMemAttachGlobal), "labels");
  require(cudaMallocManaged(&sums, kClusters * kDimensions * sizeof(float)), "sums");
  require(cudaMallocManaged(&sizes, kClusters * sizeof(int)), "sizes");
  require(cudaMallocManaged(&next, sizeof(Centroids)), "centroids");
  fill_points(points);
  for (int i = 0; i < kPoints; ++i) labels[i] = -1;
  for (int c = 0; c < kClusters; ++c)
    for (int d = 0; d < kDimensions; ++d) next->at[c][d] = points[c * 7 * kDimensions + d];
  const Outcome expected = reference(points, *next);

  cudaPointerAttributes attributes;
  require(cudaPointerGetAttributes(&attributes, points), "attributes");
  int wrong = attributes.type == cudaMemoryTypeManaged ? 0 : 1;

  Outcome outcome;
  const int blocks = (kPoints + kBlock - 1) / kBlock;
  for (int round = 0; round < kRounds; ++round) {
    require(cudaMemcpyToSymbol(centroids, next, sizeof(Centroids)), "upload");
    moved = 0;
    squared_distance = 0;
    assign_points<<<blocks, kBlock>>>(points, labels, kPoints);
    require(cudaMemset(sums, 0, kClusters * kDimensions * sizeof(float)), "memset");
    require(cudaMemset(sizes, 0, kClusters * sizeof(int)), "memset");
    sum_members<<<8, kBlock>>>(points, labels, sums, sizes, kPoints);
    divide_sums<<<1, dim3(kDimensions, kClusters)>>>(sums, sizes, next);
    require(cudaPeekAtLastError(), "launch");
    require(cudaDeviceSynchronize(), "round");
    outcome.moves.push_back(moved);
    outcome.costs.push_back(squared_distance);
  }

  for (int i = 0; i < kPoints; ++i) wrong += labels[i] != expected.labels[i];
  for (int round = 0; round < kRounds; ++round) {
    wrong += outcome.moves[round] != expected.moves[round];
    wrong += outcome.costs[round] != expected.costs[round];
    if (round > 1) wrong += outcome.costs[round] > outcome.costs[round - 1];
  }
  Centroids uploaded;
  require(cudaMemcpyToSymbol(centroids, next, sizeof(Centroids)), "upload");
  require(cudaMemcpyFromSymbol(&uploaded, centroids, sizeof uploaded), "download");
  for (int c = 0; c < kClusters; ++c)
    for (int d = 0; d < kDimensions; ++d) wrong += uploaded.at[c][d] != expected.centres.at[c][d];

  for (void *memory : {(void *)points, (void *)labels, (void *)sums, (void *)sizes, (void *)next})
    require(cudaFree(memory), "free");
  std::printf("kmeans: %d points, %d clusters, %u moves at first, cost %llu, %d wrong: %s\n", kPoints, kClusters,
              outcome.moves[0], outcome.costs[kRounds - 1], wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
