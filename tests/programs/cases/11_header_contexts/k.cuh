// Needs ops.h before it, and SCALE from whoever includes it.
static __global__ void scale(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = scaled(x[i]) + OFFSET;
}
