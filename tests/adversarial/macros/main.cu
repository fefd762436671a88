#define I (threadIdx.x + blockIdx.x * blockDim.x)
#define P 3
#define T float
#define N 128
#define size 64
#define args 5
#define index 7
#define offset 11
#define module 13
#define a 2
#define max(x, y) ((x) > (y) ? (x) : (y))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define printf(...) ((void)0)
#define call 1
#define kernel 2

__global__ void named_by_macros(T *out, const T *in, int n) {
  if (I < n) out[I] = max(in[I], P) * size + min(in[I], args) + index + offset + module + a + call + kernel;
  printf("%d", N);
}
