#define LEAST (-2147483647 - 1)

__global__ void least(int *out, const int *in, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  int x = in[i];
  out[i] = (x == LEAST) + 2 * (x > LEAST) + 4 * (x <= LEAST) + (x ^ LEAST) + (x & LEAST) + max(x, LEAST);
}

__global__ void least64(long long *out, const long long *in, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  const long long least = -9223372036854775807LL - 1;
  long long x = in[i];
  out[i] = (x == least) + 2 * (x != least) + (x ^ least) + (x | (long long)0x8000000000000000ULL);
}
