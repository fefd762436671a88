__device__ const float weights[3] = {0.1f, 0.2f, 0.3f};
__constant__ const int steps[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
static __constant__ const double scale = 0.37;
__constant__ float taps[5];
__device__ float grid3[3][4][5];
__device__ int hits[2][8];

__global__ void reads(float *out, const float *in, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) out[i] = in[i] * weights[i % 3] + taps[i % 5] + scale + steps[i & 3][i & 1];
}

__global__ void writes(const float *in, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n && i < 60) {
    grid3[i / 20][i / 5 % 4][i % 5] += in[i];
    atomicAdd(&hits[i & 1][i % 8], 1);
  }
}
