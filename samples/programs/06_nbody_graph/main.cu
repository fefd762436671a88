// Bodies under gravity by the leapfrog scheme. A step is captured from a stream once and replayed as a
// graph; a second graph, made node by node, measures energy. Compared with a host version.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define GRAPH_CHECK(call) check_((call), #call, __LINE__)

namespace {

constexpr int kBodies = 192;
constexpr int kTile = 64;
constexpr int kSteps = 12;
constexpr int kMeasureEvery = 4;
constexpr float kTimeStep = 0.01f;
constexpr float kSoftening = 0.05f;

inline void check_(cudaError_t status, const char *call, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(status));
  std::exit(2);
}

struct Body {
  float4 at;  // w: mass
  float4 velocity;
};

struct Log {
  const double *energy;  // pinned, 2: kinetic, potential
  std::vector<double> *kinetic;
  std::vector<double> *potential;
};

}  // namespace

__device__ float3 pull(float4 self, float4 other, float3 sum) {
  float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
  float squared = dx * dx + dy * dy + dz * dz + kSoftening * kSoftening;
  float inverse = 1.0f / sqrtf(squared);
  float strength = other.w * inverse * inverse * inverse;
  return make_float3(sum.x + dx * strength, sum.y + dy * strength, sum.z + dz * strength);
}

// Acceleration of every body; positions pass through shared memory tile by tile.
__global__ void accelerate(const float4 *at, float4 *acceleration, int count) {
  __shared__ float4 tile[kTile];
  int i = blockIdx.x * kTile + threadIdx.x;
  float4 self = i < count ? at[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < count; first += kTile) {
    int j = first + threadIdx.x;
    tile[threadIdx.x] = j < count ? at[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum = pull(self, tile[k], sum);
    __syncthreads();
  }
  if (i < count) acceleration[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

__global__ void kick(float4 *velocity, const float4 *acceleration, float half, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 v = velocity[i], a = acceleration[i];
  velocity[i] = make_float4(v.x + half * a.x, v.y + half * a.y, v.z + half * a.z, 0.0f);
}

__global__ void drift(float4 *at, const float4 *velocity, float step, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 p = at[i], v = velocity[i];
  at[i] = make_float4(p.x + step * v.x, p.y + step * v.y, p.z + step * v.z, p.w);
}

__global__ void measure(const float4 *at, const float4 *velocity, double *energy, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double kinetic = 0.0, potential = 0.0;
  if (i < count) {
    float4 p = at[i], v = velocity[i];
    kinetic = 0.5 * p.w * (double(v.x) * v.x + double(v.y) * v.y + double(v.z) * v.z);
    for (int j = 0; j < i; ++j) {
      float4 q = at[j];
      double dx = double(q.x) - p.x, dy = double(q.y) - p.y, dz = double(q.z) - p.z;
      potential -= double(p.w) * q.w / sqrt(dx * dx + dy * dy + dz * dz + double(kSoftening) * kSoftening);
    }
  }
  atomicAdd(&energy[0], kinetic);
  atomicAdd(&energy[1], potential);
}

static void append(void *user) {
  auto *log = static_cast<Log *>(user);
  log->kinetic->push_back(log->energy[0]);
  log->potential->push_back(log->energy[1]);
}

static std::vector<Body> make_bodies() {
  std::vector<Body> bodies(kBodies);
  unsigned state = 2463534242u;
  auto uniform = [&state] {
    state = state * 69069u + 1u;
    return float(state >> 8) / 16777216.0f;
  };
  for (Body &body : bodies) {
    float angle = 6.2831853f * uniform(), radius = 0.3f + uniform();
    body.at = make_float4(radius * std::cos(angle), radius * std::sin(angle), 0.2f * (uniform() - 0.5f),
                          0.5f / kBodies * (1.0f + uniform()));
    body.velocity = make_float4(-0.6f * std::sin(angle), 0.6f * std::cos(angle), 0.0f, 0.0f);
  }
  return bodies;
}

struct Energy {
  double kinetic, potential;
};

static std::vector<Energy> reference(std::vector<Body> &bodies) {
  std::vector<Energy> energies;
  std::vector<double> ax(kBodies), ay(kBodies), az(kBodies);
  auto accelerations = [&] {
    for (int i = 0; i < kBodies; ++i) {
      double sx = 0, sy = 0, sz = 0;
      for (const Body &other : bodies) {
        double dx = double(other.at.x) - bodies[i].at.x, dy = double(other.at.y) - bodies[i].at.y,
               dz = double(other.at.z) - bodies[i].at.z;
        double squared = dx * dx + dy * dy + dz * dz + double(kSoftening) * kSoftening;
        double strength = other.at.w / (squared * std::sqrt(squared));
        sx += dx * strength, sy += dy * strength, sz += dz * strength;
      }
      ax[i] = sx, ay[i] = sy, az[i] = sz;
    }
  };
  auto half_kick = [&] {
    for (int i = 0; i < kBodies; ++i) {
      bodies[i].velocity.x += float(0.5 * kTimeStep * ax[i]);
      bodies[i].velocity.y += float(0.5 * kTimeStep * ay[i]);
      bodies[i].velocity.z += float(0.5 * kTimeStep * az[i]);
    }
  };
  accelerations();
  for (int step = 1; step <= kSteps; ++step) {
    half_kick();
    for (Body &body : bodies) {
      body.at.x += kTimeStep * body.velocity.x;
      body.at.y += kTimeStep * body.velocity.y;
      body.at.z += kTimeStep * body.velocity.z;
    }
    accelerations();
    half_kick();
    if (step % kMeasureEvery) continue;
    Energy energy = {0, 0};
    for (int i = 0; i < kBodies; ++i) {
      const Body &b = bodies[i];
      energy.kinetic += 0.5 * b.at.w * (double(b.velocity.x) * b.velocity.x + double(b.velocity.y) * b.velocity.y +
                                        double(b.velocity.z) * b.velocity.z);
      for (int j = 0; j < i; ++j) {
        double dx = double(bodies[j].at.x) - b.at.x, dy = double(bodies[j].at.y) - b.at.y,
               dz = double(bodies[j].at.z) - b.at.z;
        energy.potential -=
            double(b.at.w) * bodies[j].at.w / std::sqrt(dx * dx + dy * dy + dz * dz + double(kSoftening) * kSoftening);
      }
    }
    energies.push_back(energy);
  }
  return energies;
}

// One leapfrog step, captured: accelerate and the two half kicks on one stream, a counter on another.
static cudaGraphExec_t capture_step(cudaStream_t stream, cudaStream_t side, float4 *at, float4 *velocity,
                                    float4 *acceleration) {
  const int blocks = (kBodies + kTile - 1) / kTile;
  cudaEvent_t fork, join;
  GRAPH_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  GRAPH_CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  GRAPH_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  kick<<<blocks, kTile, 0, stream>>>(velocity, acceleration, 0.5f * kTimeStep, kBodies);
  drift<<<blocks, kTile, 0, stream>>>(at, velocity, kTimeStep, kBodies);
  GRAPH_CHECK(cudaEventRecord(fork, stream));
  GRAPH_CHECK(cudaStreamWaitEvent(side, fork, 0));
  GRAPH_CHECK(cudaMemsetAsync(acceleration, 0xff, kBodies * sizeof(float4), side));  // accelerate overwrites all of it
  GRAPH_CHECK(cudaEventRecord(join, side));
  GRAPH_CHECK(cudaStreamWaitEvent(stream, join, 0));
  accelerate<<<blocks, kTile, 0, stream>>>(at, acceleration, kBodies);
  kick<<<blocks, kTile, 0, stream>>>(velocity, acceleration, 0.5f * kTimeStep, kBodies);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  GRAPH_CHECK(cudaStreamIsCapturing(stream, &status));
  if (status != cudaStreamCaptureStatusActive) std::exit(2);
  cudaGraph_t graph;
  GRAPH_CHECK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  GRAPH_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  if (nodes != 5) {
    std::fprintf(stderr, "captured %zu nodes\n", nodes);
    std::exit(2);
  }
  cudaGraphExec_t exec;
  GRAPH_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  GRAPH_CHECK(cudaGraphDestroy(graph));
  GRAPH_CHECK(cudaEventDestroy(fork));
  GRAPH_CHECK(cudaEventDestroy(join));
  return exec;
}

// Clears the sums, measures, copies to the host and calls it: explicit nodes.
static cudaGraphExec_t build_measurement(const float4 *at, const float4 *velocity, double *energy, double *pinned,
                                         Log *log) {
  cudaGraph_t graph;
  GRAPH_CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t clear, kernel, copy, host;
  cudaMemsetParams memset_parameters{};
  memset_parameters.dst = energy;
  memset_parameters.elementSize = 4;
  memset_parameters.width = 2 * sizeof(double) / 4;
  memset_parameters.height = 1;
  GRAPH_CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &memset_parameters));
  int count = kBodies;
  void *arguments[] = {&at, &velocity, &energy, &count};
  cudaKernelNodeParams kernel_parameters{};
  kernel_parameters.func = reinterpret_cast<void *>(measure);
  kernel_parameters.gridDim = dim3((kBodies + kTile - 1) / kTile);
  kernel_parameters.blockDim = dim3(kTile);
  kernel_parameters.kernelParams = arguments;
  GRAPH_CHECK(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &kernel_parameters));
  cudaMemcpy3DParms copy_parameters{};
  copy_parameters.srcPtr = make_cudaPitchedPtr(energy, 2 * sizeof(double), 2 * sizeof(double), 1);
  copy_parameters.dstPtr = make_cudaPitchedPtr(pinned, 2 * sizeof(double), 2 * sizeof(double), 1);
  copy_parameters.extent = make_cudaExtent(2 * sizeof(double), 1, 1);
  copy_parameters.kind = cudaMemcpyDeviceToHost;
  GRAPH_CHECK(cudaGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_parameters));
  cudaHostNodeParams host_parameters{};
  host_parameters.fn = append;
  host_parameters.userData = log;
  GRAPH_CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &host_parameters));
  cudaGraphExec_t exec;
  GRAPH_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  GRAPH_CHECK(cudaGraphDestroy(graph));
  return exec;
}

int main() {
  std::vector<Body> bodies = make_bodies();
  std::vector<float4> at(kBodies), velocity(kBodies);
  for (int i = 0; i < kBodies; ++i) {
    at[i] = bodies[i].at;
    velocity[i] = bodies[i].velocity;
  }
  const size_t bytes = kBodies * sizeof(float4);
  float4 *device_at, *device_velocity, *device_acceleration;
  double *energy, *pinned;
  GRAPH_CHECK(cudaMalloc(&device_at, bytes));
  GRAPH_CHECK(cudaMalloc(&device_velocity, bytes));
  GRAPH_CHECK(cudaMalloc(&device_acceleration, bytes));
  GRAPH_CHECK(cudaMalloc(&energy, 2 * sizeof(double)));
  GRAPH_CHECK(cudaMallocHost(&pinned, 2 * sizeof(double)));
  GRAPH_CHECK(cudaMemcpy(device_at, at.data(), bytes, cudaMemcpyHostToDevice));
  GRAPH_CHECK(cudaMemcpy(device_velocity, velocity.data(), bytes, cudaMemcpyHostToDevice));
  accelerate<<<(kBodies + kTile - 1) / kTile, kTile>>>(device_at, device_acceleration, kBodies);
  GRAPH_CHECK(cudaDeviceSynchronize());

  cudaStream_t stream, side;
  GRAPH_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  GRAPH_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  std::vector<double> kinetic, potential;
  Log log{pinned, &kinetic, &potential};
  cudaGraphExec_t step = capture_step(stream, side, device_at, device_velocity, device_acceleration);
  cudaGraphExec_t measurement = build_measurement(device_at, device_velocity, energy, pinned, &log);
  for (int i = 1; i <= kSteps; ++i) {
    GRAPH_CHECK(cudaGraphLaunch(step, stream));
    if (i % kMeasureEvery == 0) GRAPH_CHECK(cudaGraphLaunch(measurement, stream));
  }
  GRAPH_CHECK(cudaMemcpyAsync(at.data(), device_at, bytes, cudaMemcpyDeviceToHost, stream));
  GRAPH_CHECK(cudaStreamSynchronize(stream));

  const std::vector<Energy> expected = reference(bodies);
  int wrong = kinetic.size() == expected.size() ? 0 : 1000;
  for (size_t i = 0; i < expected.size() && i < kinetic.size(); ++i) {
    wrong += !(std::fabs(kinetic[i] - expected[i].kinetic) <= 1e-4 * std::fabs(expected[i].kinetic));
    wrong += !(std::fabs(potential[i] - expected[i].potential) <= 1e-4 * std::fabs(expected[i].potential));
    wrong += !(std::fabs(kinetic[i] + potential[i] - kinetic[0] - potential[0]) <= 1e-2);
  }
  for (int i = 0; i < kBodies; ++i) {
    wrong += !(std::fabs(at[i].x - bodies[i].at.x) <= 1e-4f && std::fabs(at[i].y - bodies[i].at.y) <= 1e-4f &&
               std::fabs(at[i].z - bodies[i].at.z) <= 1e-4f);
    wrong += at[i].w != bodies[i].at.w;
  }
  GRAPH_CHECK(cudaGraphExecDestroy(step));
  GRAPH_CHECK(cudaGraphExecDestroy(measurement));
  GRAPH_CHECK(cudaStreamDestroy(stream));
  GRAPH_CHECK(cudaStreamDestroy(side));
  GRAPH_CHECK(cudaFree(device_at));
  GRAPH_CHECK(cudaFree(device_velocity));
  GRAPH_CHECK(cudaFree(device_acceleration));
  GRAPH_CHECK(cudaFree(energy));
  GRAPH_CHECK(cudaFreeHost(pinned));
  std::printf("nbody_graph: %d bodies, %d steps, %zu measurements, %d wrong: %s\n", kBodies, kSteps, kinetic.size(),
              wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
