// Captures, references, counters that outlive loops, defaults in class templates.
struct P2 { int a = 3; int b; };
struct Q2 { P2 p; int c = 9; };
struct Agg { int x; float y; int z[2]; };
template <typename T> struct Acc { T total = 5; int n; __device__ Acc() : n(2) {} __device__ void add(T v) { total += v; n++; } };
template <typename T> struct Pairs : Acc<T> { };
__device__ int outer(int x) { int r = 0; for (int i = 0; i < 4; ++i) { if (i == x) { r = 100 + i; break; } r += i; } return r; }
__device__ float norm(const float *v, int n) { float s = 0; for (int i = 0; i < n; ++i) s += v[i] * v[i]; return sqrtf(s); }
__device__ void split(int v, int *lo, int *hi) { *lo = v & 15; *hi = v >> 4; }
__device__ int get(const int (&m)[2][2], int i) { return m[i][1 - i]; }
__device__ bool tryit(int v, int &out) { if (v < 0) return false; out = v * 2; return true; }

__global__ void more(int *a, float *f, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int x = 1, y = 2;
  auto g = [=, &x](int d) { x += d; return x * 10 + y; };
  x = 4; y = 7;
  a[i + 100] = g(1) + x;
  int k;
  k = a[i] & 3; k = k + 1;
  for (; k < 9; k++) x += k;
  a[i + 200] = x + k;
  for (k = 0; k < 5; ++k) if (k == (i & 7)) break;
  a[i + 300] = k;
  Q2 q; q.p.b = 1; q.c += q.p.a;
  Acc<float> acc; acc.add(f[i]);
  f[i + 100] = acc.total + acc.n + q.c;
  Agg g1 = {1}; Agg g2 = {1, 2.5f, {3}}; Agg g3 = g2; g3.z[1] = i;
  a[i + 400] = g1.z[0] + (int)g1.y + g2.z[0] * 10 + g3.z[1] + g2.z[1] * 1000;
  int lo, hi; split(a[i], &lo, &hi);
  a[i + 500] = lo * 100 + hi + outer(i % 6);
  float v[3] = {f[i], 1, 2};
  f[i + 200] = norm(v, 3) + norm(&v[1], 2) + norm(f + i, n & 3);
  int m[2][2] = {{1, 2}, {3, 4}};
  m[i & 1][0] += get(m, 1);
  a[i + 600] = m[0][0] + m[1][0] * 10 + get(m, i & 1);
  int out = -5; bool ok = tryit(a[i], out); a[i + 700] = out + ok;
  if (tryit(a[i] - 3, out) && out > 10) a[i + 700] += 1000;
  const int &c = a[i]; int before = c; a[i] += 2; a[i + 800] = before * 3 + c;
  unsigned long long h = 1469598103934665603ull; for (int b = 0; b < 4; ++b) { h ^= (a[i] >> (8 * b)) & 0xff; h *= 1099511628211ull; }
  a[i + 900] = (int)(h >> 32) ^ (int)h;
  float t = f[i]; t = t > 0 ? t : -t; t += 1e-3; f[i + 300] = t; f[i + 400] = (int)t % 3 ? 1.f / t : t / 3;
  long long s = 0; for (long long w = 10; w > n - 60; w -= 7) s += w * w; a[i + 1000] = (int)s;
  for (unsigned char u8 = 250; u8 >= 250; ++u8) a[i + 1100] += u8;
  int z = 5; z <<= i & 7; z |= 3; z %= 7; z = -z / 2; a[i + 1200] = z ^ (z << 4);
}
