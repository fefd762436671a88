// Pointers as base and offset, device functions, records, views.
__device__ int clampi(int v, int lo, int hi) { if (v < lo) return lo; if (v > hi) return hi; return v; }
__device__ void bump(int &r, int *p, int by = 3) { r += by; *p += r; p[1] -= by; }
__device__ void exchange(int &x, int &y) { int t = x; x = y; y = t; }
__device__ float poly(float x) { float r = 0; for (int i = 0; i < 5; ++i) { r = r * x + i; if (r > 100.0f) return -r; } return r; }
__device__ int find(const int *a, int n, int key) { for (int i = 0; i < n; i++) if (a[i] == key) return i; return -1; }
template <typename T> __device__ T twice(T v) { return v + v; }
template <typename T, int N> __device__ T sum(const T (&a)[N]) { T s = 0; for (int i = 0; i < N; ++i) s += a[i]; return s; }
struct Pair { float x; int y; __device__ float total() const { return x + y; } __device__ void add(float d) { x += d; y++; } };
struct Vec { float x, y, z; __device__ Vec(float a, float b, float c) : x(a), y(b), z(c) {} __device__ Vec() : x(0), y(1), z(2) {}
  __device__ Vec operator+(const Vec &o) const { return Vec(x + o.x, y + o.y, z + o.z); }
  __device__ Vec &operator+=(const Vec &o) { x += o.x; y += o.y; z += o.z; return *this; }
  __device__ float operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; } };
__device__ float dot(const Vec &a, const Vec &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
struct Plus { __device__ int operator()(int a, int b) const { return a + b; } };
template <class F> __device__ int apply(F f, int a, int b) { return f(a, b); }

__global__ void pointers(int *a, const int *b, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int *p = a + i;
  *p = b[i] + 1;
  int *q = p + 100;
  *q++ = 5 + i;
  q += 99;
  *q = q - p;
  q[100] = *(b + i) + 2[b];
  const int *e = b + n;
  int s = 0;
  for (const int *it = b + i % 5; it < e; ++it) s += *it;
  for (const int *it = b; it != b + 3; it++) s -= *it;
  a[i + 300] = s;
  a[i + 400] = clampi(b[i], -3, 9) + find(b, n, b[7]);
  int r = 4;
  bump(r, &a[i + 500]);
  bump(r, a + i + 600, 2);
  a[i + 700] = r + twice(b[i]) + (int)twice(1.5f);
  int &ref = a[i + 800];
  ref = 7; ref += b[i];
  int local[3] = {b[i], 2, 3};
  int *lp = local;
  lp[1] += 5; *(lp + 2) = *lp;
  a[i + 900] = sum(local);
  int *pick = i & 1 ? a + i + 1000 : a + i + 1100;
  *pick = 3;
  int *moving = a + 1200;
  for (int k = 0; k < 3; k++) { moving[i] = k + i; moving += 100; }
  int aa = 1, bb = 2;
  exchange(aa, bb);
  a[i + 1600] = aa * 10 + bb + min(aa, n) + std::max(b[i], 3);
}

__global__ void records(Pair *p, float *f, float4 *v, Pair one) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  p[i].x += p[i].y;
  p[i + 100] = p[i];
  Pair c = p[i];
  c.add(2.5f);
  p[i + 200] = c;
  f[i] = c.total() + p[i].total() + one.x + one.y;
  Pair *pp = &p[i + 300];
  pp->x = 3; pp->add(1);
  one.x = f[i]; one.add(1);
  f[i + 100] = one.x;
  float4 q = v[i];
  q.x = q.y; q.w = poly(q.z);
  v[i + 100] = q;
  v[i + 200] = make_float4(q.z, q.y, q.x, 1);
  v[i + 300].y = 9;
  ((float *)v)[1600 + i] = 2;
  float4 w = *reinterpret_cast<float4 *>(&f[4 * i + 400]);
  f[i + 200] = w.x + w.w;
  Vec a(1, 2, f[i]), b;
  a += b;
  Vec d = a + b + Vec(f[i], 0, 1);
  f[i + 300] = dot(d, a) + d[2] + d[0];
  Vec list[2] = {Vec(1, 2, 3), a};
  f[i + 1000] = list[i & 1].y;
  Pair zero = {};
  Pair init{1.5f, (int)f[3]};
  f[i + 1100] = zero.total() + init.total();
  Pair swapped = {(float)init.y, (int)init.x};
  init = swapped;
  f[i + 1200] = init.total();
  float t[2][3] = {{1, 2, 3}, {4}};
  t[i & 1][i % 3] += f[i];
  f[i + 1300] = t[0][1] + t[1][2] + (*(t + 1))[0] + t[1][0];
  float *row = t[1];
  row[1] = 5;
  f[i + 1400] = t[1][1];
}

__device__ const int table[4] = {3, 1, 4, 1};
__constant__ float weights[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ int counter;
__global__ void functors(int *a, unsigned *u, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int k = a[i];
  auto add = [k](int x) { return x + k; };
  k += 100;
  auto see = [&](int x) { k += x; return k; };
  a[i + 100] = add(1) + see(2) + see(3) + k;
  a[i + 200] = apply(Plus(), i, n) + apply([=](int x, int y) { return x * y + k; }, 3, i);
  a[i + 300] = table[i & 3] + (int)weights[i & 1][i % 3];
  a[i + 400] = atomicAdd(&a[1000], 2);
  atomicMax(a + 1001, i * 7 % 50);
  u[i] = atomicInc(&u[1000], 5);
  int old = a[1002], seen;
  do { seen = old; old = atomicCAS(&a[1002], seen, seen + i); } while (old != seen);
  a[i + 500] = __ldg(&a[i]) + __popc(u[i]);
  float f = 1.5f + i;
  int bits = *(int *)&f;
  a[i + 600] = bits;
  *(unsigned *)&f |= 1u;
  a[i + 700] = f > 1.5f + i;
  short *half = (short *)(a + 800);
  half[2 * i + 1] = 17;
  atomicAdd(&counter, 1);
  a[i + 1100] = counter >= 0;
}

__global__ void shared(float *f, int n) {
  __shared__ float tile[4][5];
#ifdef __CUDACC__
  extern __shared__ char raw[];
#else
  static char raw[4096];
#endif
  float *lo = (float *)raw;
  double *hi = (double *)(lo + 32);
  int t = threadIdx.x;
  tile[t & 3][t % 5] = f[t];
  lo[t] = f[t] + 1;
  hi[t & 7] = f[t] * 2;
  __syncthreads();
  f[t + 100] = tile[t & 3][t % 5] + lo[t] + hi[t & 7];
  float *flat = &tile[0][0];
  f[t + 200] = flat[(t & 3) * 5 + t % 5];
}
