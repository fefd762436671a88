#define I (threadIdx.x + blockIdx.x * blockDim.x)

__global__ void far_apart(int *out, int a, int b) {
  int sum = 0;
  for (int k = a; k < b; k += 1000000) sum += k ^ sum;
  out[I] = sum;
}

__global__ void far_literals(int *out, const int *in) {
  int sum = 0;
  for (int k = -2000000000; k < in[0]; k += 10000000) sum += k ^ sum;
  out[I] = sum;
}

__global__ void down_with_break(int *out, int n) {
  int sum = 0;
  for (int k = n; k >= 0; k--) {
    sum += k;
    if (n - k > 50) break;
  }
  out[I] = sum;
}

__global__ void narrow_wraps(int *out, short b, signed char c) {
  int sum = 0;
  for (short k = -5; k < b; k += 3) sum += k ^ sum;
  for (signed char k = -120; k < c; k += 50) sum = sum * 3 + k;
  out[I] = sum;
}

__global__ void unsigned_wraps(int *out, unsigned a, unsigned b) {
  int sum = 0;
  for (unsigned k = a; k < b; k += 1000000007u) sum += (int)k ^ sum;
  out[I] = sum;
}

__global__ void starts_beyond(int *out, unsigned a) {
  int sum = 0;
  for (unsigned k = a; k < 100u; k++) sum += k * 3;
  out[I] = sum;
}
