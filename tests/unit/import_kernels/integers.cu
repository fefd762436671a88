// Widths, promotions, compound assignments, wrap-around.
__global__ void narrow(char *c, unsigned char *u, short *s, int n) {
  int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  c[i] += 100;
  c[i] = c[i] * 3 - u[i];
  u[i] <<= 1;
  u[i] += c[i];
  s[i] -= u[i] * 300;
  s[i] ^= ~c[i];
  s[i + 100] = -u[i];
  s[i + 200] = c[i] >> 1;
  u[i + 100] = u[i] >> (c[i] & 7);
  c[i + 100]++;
  --u[i + 200];
  s[i + 300] = (c[i]++) + (--u[i]);
  bool b = n;
  b += 5;
  s[i + 400] = b;
  u[i + 300] = !c[i] + !!u[i] + (c[i] && u[i]) + (c[i] || s[i]);
}

__global__ void mixed(int *a, unsigned *b, long long *l, unsigned long long *m, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  unsigned k = i;
  a[i] = a[i] < b[i] ? a[i] + b[i] : a[i] - b[i];
  if (a[i] > -1 && k > -1) a[i]++;
  if (a[i] < 0u) a[i] = 7;
  l[i] = a[i] + b[i];
  l[i + 100] = a[i] * 1000000;
  l[i + 200] = (long long)a[i] * 1000000;
  m[i] = a[i];
  m[i + 100] = -b[i];
  m[i + 200] = l[i] - m[i];
  b[i + 100] = a[i] / (b[i] | 1);
  a[i + 100] = -7 / (int)(1 + k % 3) + -7 % (int)(1 + k % 3);
  a[i + 200] = a[i] / ((a[i] & 3) + 1) + a[i] % ((b[i] & 3) + 1);
  b[i + 200] = b[i] >> 3 | b[i] << 29;
  a[i + 300] = a[i] >> 5 << 2;
  l[i + 300] = l[i] >> 40;
  a[i + 400] = (a[i] == l[i]) + (m[i] > a[i]) * 2 + (l[i] < b[i]) * 4;
  a[i + 500] = l[i] * 12345678901LL;
  b[i + 300] = 0xffffffffu + i;
  m[i + 300] = 0xFFFFFFFFFFFFFFFFull - i;
  a[i + 600] = sizeof(int) * n - 'a' + true;
  b[i + 400] = (unsigned char)a[i] + (signed char)b[i] + (short)l[i];
}

enum Colour { RED = 3, GREEN, BLUE = -2 };
enum class Mode : unsigned char { A = 1, B = 200 };
constexpr int kOffset = 5;
const int kTwice = 2 * kOffset;
__global__ void constants(int *a, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  const int local = kTwice + BLUE;
  Mode mode = i & 1 ? Mode::A : Mode::B;
  Colour colour = (Colour)(i % 3 + 2);
  a[i] = local + (int)mode + colour + (colour == GREEN) + n;
  if constexpr (sizeof(long) == 8) a[i] += 1000; else a[i] -= 1000;
}
