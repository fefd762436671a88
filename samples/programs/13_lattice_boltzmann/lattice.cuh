// The nine directions of the lattice and what happens at a node.
#pragma once
#include <cuda_runtime.h>

constexpr int kDirections = 9;

struct DirectionSet {
  int x[kDirections], y[kDirections], opposite[kDirections];
  float weight[kDirections];
};

inline const DirectionSet host_set = {{0, 1, 0, -1, 0, 1, -1, -1, 1},
                                      {0, 0, 1, 0, -1, 1, 1, -1, -1},
                                      {0, 3, 4, 1, 2, 7, 8, 5, 6},
                                      {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36,
                                       1.0f / 36, 1.0f / 36}};

__host__ __device__ inline float equilibrium(const DirectionSet &set, int d, float density, float ux, float uy) {
  float along = 3.0f * (set.x[d] * ux + set.y[d] * uy);
  return set.weight[d] * density * (1.0f + along + 0.5f * along * along - 1.5f * (ux * ux + uy * uy));
}

// Relaxes the nine distributions of a node towards equilibrium.
__host__ __device__ inline void relax(float f[kDirections], const DirectionSet &set, float relaxation) {
  float density = 0.0f, ux = 0.0f, uy = 0.0f;
  for (int d = 0; d < kDirections; ++d) {
    density += f[d];
    ux += set.x[d] * f[d];
    uy += set.y[d] * f[d];
  }
  ux /= density;
  uy /= density;
  for (int d = 0; d < kDirections; ++d) f[d] += relaxation * (equilibrium(set, d, density, ux, uy) - f[d]);
}

cudaError_t upload_set();
cudaError_t read_bounces(int *bounces);
void launch_step(cudaPitchedPtr next, cudaPitchedPtr now, const unsigned char *walls, size_t wall_pitch, int width,
                 int height, float relaxation, cudaStream_t stream);
void launch_speeds(cudaPitchedPtr field, float *speeds, int width, int height, cudaStream_t stream);
