// Flow around an obstacle by the lattice Boltzmann method (nine directions in the plane), fields in pitched
// 3-D memory, weights in constant memory, counters as device variables, host code for each step by callbacks.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lattice.cuh"

namespace {

constexpr int kWidth = 72, kHeight = 40, kSteps = 16;
constexpr float kRelaxation = 0.8f, kSpeed = 0.08f;

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

struct HostLattice {
  std::vector<float> f = std::vector<float>(size_t(kDirections) * kHeight * kWidth);
  float &at(int d, int y, int x) { return f[(size_t(d) * kHeight + y) * kWidth + x]; }
};

std::vector<unsigned char> make_walls() {
  std::vector<unsigned char> walls(kWidth * kHeight, 0);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      walls[y * kWidth + x] = y == 0 || y == kHeight - 1 || (std::abs(x - 20) < 3 && std::abs(y - 18) < 6);
  return walls;
}

void reference_step(HostLattice &next, HostLattice &now, const std::vector<unsigned char> &walls, int &bounced) {
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      float f[kDirections];
      for (int d = 0; d < kDirections; ++d) {
        int sx = (x - host_set.x[d] + kWidth) % kWidth, sy = (y - host_set.y[d] + kHeight) % kHeight;
        f[d] = now.at(d, sy, sx);
      }
      if (walls[y * kWidth + x]) {
        for (int d = 0; d < kDirections; ++d) next.at(host_set.opposite[d], y, x) = f[d];
        ++bounced;
        continue;
      }
      relax(f, host_set, kRelaxation);
      for (int d = 0; d < kDirections; ++d) next.at(d, y, x) = f[d];
    }
}

cudaMemcpy3DParms whole_copy(cudaPitchedPtr from, cudaPitchedPtr to, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = from;
  copy.dstPtr = to;
  copy.extent = make_cudaExtent(kWidth * sizeof(float), kHeight, kDirections);
  copy.kind = kind;
  return copy;
}

struct Progress {
  int steps = 0;
};

}  // namespace

int main() {
  require(upload_set(), "upload_set");
  const std::vector<unsigned char> walls = make_walls();
  HostLattice now, next;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      float density = 1.0f, ux = kSpeed * (1.0f + 0.1f * ((x * 7 + y * 3) % 5)), uy = 0.0f;
      for (int d = 0; d < kDirections; ++d) now.at(d, y, x) = equilibrium(host_set, d, density, ux, uy);
    }

  const cudaExtent extent = make_cudaExtent(kWidth * sizeof(float), kHeight, kDirections);
  cudaPitchedPtr fields[2];
  for (cudaPitchedPtr &field : fields) require(cudaMalloc3D(&field, extent), "cudaMalloc3D");
  unsigned char *device_walls;
  size_t wall_pitch;
  require(cudaMallocPitch(&device_walls, &wall_pitch, kWidth, kHeight), "cudaMallocPitch");
  require(cudaMemcpy2D(device_walls, wall_pitch, walls.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice),
          "walls");
  cudaPitchedPtr host_field = make_cudaPitchedPtr(now.f.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight);
  cudaMemcpy3DParms upload = whole_copy(host_field, fields[0], cudaMemcpyHostToDevice);
  require(cudaMemcpy3D(&upload), "upload");
  require(cudaMemset3D(fields[1], 0, extent), "cudaMemset3D");

  cudaStream_t stream;
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  Progress progress;
  for (int step = 0; step < kSteps; ++step) {
    launch_step(fields[1 - step % 2], fields[step % 2], device_walls, wall_pitch, kWidth, kHeight, kRelaxation, stream);
    require(cudaGetLastError(), "step");
    require(cudaLaunchHostFunc(stream, [](void *user) { ++static_cast<Progress *>(user)->steps; }, &progress),
            "cudaLaunchHostFunc");
  }
  float *speeds;
  require(cudaMalloc(&speeds, kWidth * kHeight * sizeof(float)), "cudaMalloc");
  launch_speeds(fields[kSteps % 2], speeds, kWidth, kHeight, stream);
  std::vector<float> speed(kWidth * kHeight);
  require(cudaMemcpyAsync(speed.data(), speeds, speed.size() * sizeof(float), cudaMemcpyDeviceToHost, stream), "speeds");
  require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

  // One direction at a time comes back, through an offset into the volume.
  HostLattice result;
  for (int d = 0; d < kDirections; ++d) {
    cudaMemcpy3DParms slice = {};
    slice.srcPtr = fields[kSteps % 2];
    slice.srcPos = make_cudaPos(0, 0, d);
    slice.dstPtr = make_cudaPitchedPtr(&result.at(d, 0, 0), kWidth * sizeof(float), kWidth * sizeof(float), kHeight);
    slice.extent = make_cudaExtent(kWidth * sizeof(float), kHeight, 1);
    slice.kind = cudaMemcpyDeviceToHost;
    require(cudaMemcpy3DAsync(&slice, stream), "slice");
  }
  require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  int bounces = -1, expected_bounces = 0;
  require(read_bounces(&bounces), "read_bounces");

  double mass_before = 0.0, mass_after = 0.0;
  for (float f : now.f) mass_before += f;
  for (int step = 0; step < kSteps; ++step) {
    reference_step(next, now, walls, expected_bounces);
    std::swap(next, now);
  }
  int wrong = bounces != expected_bounces || progress.steps != kSteps;
  for (size_t i = 0; i < result.f.size(); ++i) {
    wrong += !(std::fabs(result.f[i] - now.f[i]) <= 1e-5f);
    mass_after += result.f[i];
  }
  wrong += !(std::fabs(mass_after / mass_before - 1.0) < 1e-5);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      float density = 0, ux = 0, uy = 0;
      for (int d = 0; d < kDirections; ++d) {
        density += now.at(d, y, x);
        ux += host_set.x[d] * now.at(d, y, x);
        uy += host_set.y[d] * now.at(d, y, x);
      }
      wrong += !(std::fabs(speed[y * kWidth + x] - std::sqrt(ux * ux + uy * uy) / density) <= 1e-4f);
    }

  for (cudaPitchedPtr &field : fields) require(cudaFree(field.ptr), "cudaFree");
  require(cudaFree(device_walls), "cudaFree");
  require(cudaFree(speeds), "cudaFree");
  require(cudaStreamDestroy(stream), "cudaStreamDestroy");
  std::printf("lattice_boltzmann: %dx%d, %d steps, %d bounces, %d wrong: %s\n", kWidth, kHeight, kSteps, bounces, wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
