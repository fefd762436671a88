// Heat equation on a plate cut into slabs: a stream a slab, halos ordered by events, residuals
// collected by host functions. Checks itself against one plain loop over the whole plate.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t status_ = (call);                                                          \
    if (status_ != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(2);                                                                        \
    }                                                                                      \
  } while (0)

namespace {

constexpr int kWidth = 160;
constexpr int kSlabs = 3;
constexpr int kRows = 48;  // of one slab
constexpr int kHeight = kSlabs * kRows;
constexpr int kSteps = 24;
constexpr int kReport = 6;
constexpr float kAlpha = 0.2f;

struct Slab {
  float *field[2];       // (kRows + 2) x kWidth: one halo row on either side
  unsigned *change;      // largest change of a cell, as the bits of a non-negative float
  cudaStream_t stream;
  cudaEvent_t computed[2];
  cudaEvent_t received;
};

struct Residuals {
  const unsigned *pinned;  // one word a slab
  std::vector<float> *history;
};

}  // namespace

__global__ void heat_step(float *next, const float *now, int width, int rows, float alpha) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= rows) return;
  int i = (y + 1) * width + x;
  float centre = now[i];
  if (x == 0 || x == width - 1) {
    next[i] = centre;
    return;
  }
  float flow = now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - 4.0f * centre;
  next[i] = centre + alpha * flow;
}

__global__ void largest_change(const float *next, const float *now, int width, int rows, unsigned *largest) {
  __shared__ float partial[128];
  int count = width * rows;
  float mine = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    mine = fmaxf(mine, fabsf(next[width + i] - now[width + i]));
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(largest, __float_as_uint(partial[0]));
}

__global__ void clear_word(unsigned *word) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *word = 0;
}

static float start_value(int x, int y) {
  float dx = x - 0.4f * kWidth, dy = y - 0.6f * kHeight;
  return 20.0f + 80.0f * std::exp(-(dx * dx + dy * dy) / 400.0f);
}

static void append_residual(void *user) {
  auto *residuals = static_cast<Residuals *>(user);
  float largest = 0.0f;
  for (int s = 0; s < kSlabs; ++s) {
    float value;
    std::memcpy(&value, &residuals->pinned[s], sizeof value);
    largest = std::fmax(largest, value);
  }
  residuals->history->push_back(largest);
}

static void note_completion(cudaStream_t, cudaError_t status, void *user) {
  *static_cast<int *>(user) += status == cudaSuccess ? 1 : -1000;
}

static void reference(std::vector<float> &plate, std::vector<float> &history) {
  std::vector<float> next(plate);
  for (int step = 0; step < kSteps; ++step) {
    float largest = 0.0f;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 1; x < kWidth - 1; ++x) {
        size_t i = size_t(y) * kWidth + x;
        float up = y > 0 ? plate[i - kWidth] : 0.0f, down = y < kHeight - 1 ? plate[i + kWidth] : 0.0f;
        float flow = plate[i - 1] + plate[i + 1] + up + down - 4.0f * plate[i];
        next[i] = plate[i] + kAlpha * flow;
        largest = std::fmax(largest, std::fabs(next[i] - plate[i]));
      }
    plate.swap(next);
    if ((step + 1) % kReport == 0) history.push_back(largest);
  }
}

int main() {
  const size_t slab_cells = size_t(kRows + 2) * kWidth, row_bytes = kWidth * sizeof(float);
  float *host;
  unsigned *changes;
  CHECK(cudaMallocHost(&host, size_t(kHeight) * row_bytes));
  CHECK(cudaHostAlloc(&changes, kSlabs * sizeof(unsigned), cudaHostAllocDefault));
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) host[y * kWidth + x] = start_value(x, y);
  std::vector<float> expected(host, host + size_t(kHeight) * kWidth), expected_history, history;

  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  Slab slabs[kSlabs];
  for (int s = 0; s < kSlabs; ++s) {
    Slab &slab = slabs[s];
    CHECK(cudaStreamCreateWithPriority(&slab.stream, cudaStreamNonBlocking, s == 1 ? greatest : least));
    for (int side = 0; side < 2; ++side) {
      CHECK(cudaMalloc(&slab.field[side], slab_cells * sizeof(float)));
      CHECK(cudaMemsetAsync(slab.field[side], 0, slab_cells * sizeof(float), slab.stream));
      CHECK(cudaEventCreateWithFlags(&slab.computed[side], cudaEventDisableTiming));
    }
    CHECK(cudaEventCreateWithFlags(&slab.received, cudaEventDisableTiming));
    CHECK(cudaMalloc(&slab.change, sizeof(unsigned)));
    int first = s == 0 ? 0 : s * kRows - 1, last = s == kSlabs - 1 ? kHeight : (s + 1) * kRows + 1;
    float *target = slab.field[0] + (s == 0 ? kWidth : 0);
    CHECK(cudaMemcpyAsync(target, host + size_t(first) * kWidth, (last - first) * row_bytes, cudaMemcpyHostToDevice,
                          slab.stream));
  }
  for (Slab &slab : slabs) CHECK(cudaStreamSynchronize(slab.stream));

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
  CHECK(cudaEventRecord(start, slabs[0].stream));
  for (Slab &slab : slabs) CHECK(cudaStreamWaitEvent(slab.stream, start, 0));

  Residuals residuals{changes, &history};
  int completions = 0;
  const dim3 block(32, 4), grid((kWidth + 31) / 32, (kRows + 3) / 4);
  for (int step = 0; step < kSteps; ++step) {
    const int now = step % 2, next = 1 - now;
    for (int s = 0; s < kSlabs; ++s) {
      Slab &slab = slabs[s];
      heat_step<<<grid, block, 0, slab.stream>>>(slab.field[next], slab.field[now], kWidth, kRows, kAlpha);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(slab.computed[next], slab.stream));
    }
    for (int s = 0; s < kSlabs; ++s) {
      Slab &slab = slabs[s];
      if (s > 0) {
        CHECK(cudaStreamWaitEvent(slab.stream, slabs[s - 1].computed[next], 0));
        CHECK(cudaMemcpyAsync(slab.field[next], slabs[s - 1].field[next] + size_t(kRows) * kWidth, row_bytes,
                              cudaMemcpyDeviceToDevice, slab.stream));
      }
      if (s + 1 < kSlabs) {
        CHECK(cudaStreamWaitEvent(slab.stream, slabs[s + 1].computed[next], 0));
        CHECK(cudaMemcpyAsync(slab.field[next] + size_t(kRows + 1) * kWidth, slabs[s + 1].field[next] + kWidth,
                              row_bytes, cudaMemcpyDeviceToDevice, slab.stream));
      }
      // The neighbours' next copies into this slab's rows are ordered after this point too.
      CHECK(cudaEventRecord(slab.received, slab.stream));
    }
    if ((step + 1) % kReport == 0) {
      for (int s = 0; s < kSlabs; ++s) {
        Slab &slab = slabs[s];
        clear_word<<<1, 32, 0, slab.stream>>>(slab.change);
        largest_change<<<4, 128, 0, slab.stream>>>(slab.field[next], slab.field[now], kWidth, kRows, slab.change);
        CHECK(cudaMemcpyAsync(&changes[s], slab.change, sizeof(unsigned), cudaMemcpyDeviceToHost, slab.stream));
        CHECK(cudaEventRecord(slab.received, slab.stream));
      }
      for (int s = 1; s < kSlabs; ++s) CHECK(cudaStreamWaitEvent(slabs[0].stream, slabs[s].received, 0));
      CHECK(cudaLaunchHostFunc(slabs[0].stream, append_residual, &residuals));
      CHECK(cudaStreamAddCallback(slabs[0].stream, note_completion, &completions, 0));
      CHECK(cudaEventRecord(slabs[0].received, slabs[0].stream));
      for (int s = 1; s < kSlabs; ++s) CHECK(cudaStreamWaitEvent(slabs[s].stream, slabs[0].received, 0));
    }
    for (int s = 0; s < kSlabs; ++s) {
      if (s > 0) CHECK(cudaStreamWaitEvent(slabs[s].stream, slabs[s - 1].received, 0));
      if (s + 1 < kSlabs) CHECK(cudaStreamWaitEvent(slabs[s].stream, slabs[s + 1].received, 0));
    }
  }
  for (int s = 1; s < kSlabs; ++s) CHECK(cudaStreamWaitEvent(slabs[0].stream, slabs[s].received, 0));
  CHECK(cudaEventRecord(stop, slabs[0].stream));
  CHECK(cudaEventSynchronize(stop));
  const bool finished = cudaEventQuery(stop) == cudaSuccess && cudaStreamQuery(slabs[0].stream) == cudaSuccess;
  float milliseconds = -1.0f;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  for (int s = 0; s < kSlabs; ++s)
    CHECK(cudaMemcpyAsync(host + size_t(s) * kRows * kWidth, slabs[s].field[kSteps % 2] + kWidth, kRows * row_bytes,
                          cudaMemcpyDeviceToHost, slabs[s].stream));
  CHECK(cudaDeviceSynchronize());

  reference(expected, expected_history);
  int wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::fabs(host[i] - expected[i]) <= 1e-4f * (1.0f + std::fabs(expected[i])))) ++wrong;
  if (history.size() != expected_history.size()) wrong += 1000;
  for (size_t i = 0; i < history.size() && i < expected_history.size(); ++i)
    if (!(std::fabs(history[i] - expected_history[i]) <= 1e-4f)) ++wrong;
  if (completions != kSteps / kReport || !finished || !(milliseconds >= 0.0f)) wrong += 1000000;

  for (Slab &slab : slabs) {
    for (int side = 0; side < 2; ++side) {
      CHECK(cudaFree(slab.field[side]));
      CHECK(cudaEventDestroy(slab.computed[side]));
    }
    CHECK(cudaEventDestroy(slab.received));
    CHECK(cudaFree(slab.change));
    CHECK(cudaStreamDestroy(slab.stream));
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFreeHost(host));
  CHECK(cudaFreeHost(changes));
  std::printf("heat_streams: %dx%d, %d steps, %zu residuals, %d wrong: %s\n", kWidth, kHeight, kSteps, history.size(),
              wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
