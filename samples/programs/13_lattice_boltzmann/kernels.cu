#include "lattice.cuh"

__constant__ DirectionSet set;
__device__ int bounces = 0;

__device__ static float *cell(cudaPitchedPtr field, int d, int y, int x) {
  char *slice = (char *)field.ptr + d * (field.pitch * field.ysize);
  return (float *)(slice + y * field.pitch) + x;
}

// Streams distributions in from the neighbours, then relaxes them or, at a wall, sends them back.
__global__ void stream_and_collide(cudaPitchedPtr next, cudaPitchedPtr now, const unsigned char *walls,
                                   size_t wall_pitch, int width, int height, float relaxation) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float f[kDirections];
  for (int d = 0; d < kDirections; ++d) {
    int sx = (x - set.x[d] + width) % width, sy = (y - set.y[d] + height) % height;
    f[d] = *cell(now, d, sy, sx);
  }
  if (walls[y * wall_pitch + x]) {
    for (int d = 0; d < kDirections; ++d) *cell(next, set.opposite[d], y, x) = f[d];
    atomicAdd(&bounces, 1);
    return;
  }
  relax(f, set, relaxation);
  for (int d = 0; d < kDirections; ++d) *cell(next, d, y, x) = f[d];
}

__global__ void speed_of_nodes(cudaPitchedPtr field, float *speeds, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float density = 0.0f, ux = 0.0f, uy = 0.0f;
  for (int d = 0; d < kDirections; ++d) {
    float f = *cell(field, d, y, x);
    density += f;
    ux += set.x[d] * f;
    uy += set.y[d] * f;
  }
  speeds[y * width + x] = sqrtf(ux * ux + uy * uy) / density;
}

cudaError_t upload_set() { return cudaMemcpyToSymbol(set, &host_set, sizeof(DirectionSet), 0, cudaMemcpyHostToDevice); }

cudaError_t read_bounces(int *count) { return cudaMemcpyFromSymbol(count, bounces, sizeof *count); }

static dim3 blocks(int width, int height, dim3 block) {
  return dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
}

void launch_step(cudaPitchedPtr next, cudaPitchedPtr now, const unsigned char *walls, size_t wall_pitch, int width,
                 int height, float relaxation, cudaStream_t stream) {
  dim3 block(24, 4);
  stream_and_collide<<<blocks(width, height, block), block, 0, stream>>>(next, now, walls, wall_pitch, width, height,
                                                                         relaxation);
}

void launch_speeds(cudaPitchedPtr field, float *speeds, int width, int height, cudaStream_t stream) {
  dim3 block = {16, 8, 1};
  speed_of_nodes<<<blocks(width, height, block), block, 0, stream>>>(field, speeds, width, height);
}
