// Construction, inheritance, class templates, closures, records with arrays and pointers.
struct Base { float w = 2.5f; int tag; __device__ Base() : tag(7) {} __device__ float weigh(float v) const { return w * v + tag; } };
struct Derived : Base { int extra = 4; __device__ Derived(int e) : extra(e + 1) { w += 1; } __device__ Derived() {} };
struct Plain { int a; float b; };
struct Wrap { Plain p; int v[3]; __device__ int total() const { int s = p.a; for (int i = 0; i < 3; ++i) s += v[i]; return s; } };
template <typename T, int N> struct Small {
  T data[N];
  __device__ Small() { for (int i = 0; i < N; ++i) data[i] = T(i); }
  __device__ T &operator[](int i) { return data[i]; }
  __device__ const T &at(int i) const { return data[i]; }
  __device__ T sum() const { T s = 0; for (int i = 0; i < N; ++i) s += data[i]; return s; }
  __device__ static T unit() { return T(1); }
};
template <typename T> struct Holder { T value; int n = 3; __device__ T get() const { return value * n; } };
struct Rng { unsigned state; __device__ unsigned next() { state = state * 1664525u + 1013904223u; return state; } __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); } };
struct Cx { double re, im; };
__device__ inline Cx operator*(Cx a, Cx b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ inline Cx operator+(const Cx &a, const Cx &b) { Cx r; r.re = a.re + b.re; r.im = a.im + b.im; return r; }
__device__ inline bool operator<(const Cx &a, const Cx &b) { return a.re * a.re + a.im * a.im < b.re * b.re + b.im * b.im; }
__device__ Plain pick(int i, Plain x, Plain y) { if (i % 3 == 0) return x; if (i % 3 == 1) { x.a = 9; return x; } return y; }
__device__ void fill(Wrap &w, int base) { for (int i = 0; i < 3; ++i) w.v[i] = base + i; w.p = {base, 1.5f}; }
__device__ int ack(int m, int n) { int r = 0; while (m > 0) { if (n == 0) { n = 1; m--; continue; } if (m > 3) return -1; n--; r += m; if (r > 40) return r; } return r + n; }
__device__ int *advance(int *p, int by) { return p + by; }
__device__ int &slot(int *p, int i) { return p[i * 2]; }

__global__ void construct(float *f, int *a, Cx *c) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  Base b; Derived d(i); Derived e;
  f[i] = b.weigh(f[i]) + d.weigh(1) + d.extra * 100 + e.extra * 1000 + e.w;
  Derived copy = d; copy.w = 0; copy = e; copy.tag++;
  f[i + 100] = d.w + copy.tag + copy.w;
  Small<int, 4> s; s[i & 3] += 10; s[1]++;
  a[i + 100] = s.sum() + s.at(3) * Small<int, 4>::unit();
  Small<float, 2> t; t[0] = f[i]; Small<float, 2> u = t; u[0] += 1;
  f[i + 200] = t[0] * 2 + u.sum();
  Rng rng{(unsigned)i};
  f[i + 300] = rng.uniform() + rng.uniform() * 2 + (float)(rng.next() & 3);
  Wrap w; fill(w, i); Wrap x = w; x.v[1] = 100; w.v[2] = x.total();
  a[i + 200] = w.total() * 1000 + x.total();
  Plain p = pick(i, {1, 2.0f}, Plain{3, 4.0f});
  f[i + 400] = p.a + p.b;
  Cx z = c[i], z0 = {0.5, -0.25};
  for (int k = 0; k < 4; ++k) z = z * z0 + c[i + 1];
  c[i + 100] = z; c[i + 200] = z < z0 ? z : z0; c[i + 100].im += z.re;
  a[i + 300] = ack(a[i] & 7, a[i + 1] & 7);
  *advance(a + 400, i) = 5; slot(a + 500, i) += 3; slot(a + 500, i)++;
  Cx arr[3] = {{1, 2}, {3}}; arr[2] = arr[0]; arr[i % 3].im += 5;
  c[i + 300] = arr[2] + arr[1];
  Cx *pc = &arr[1]; pc->re = 7; (pc + 1)->im = 8; Cx &rc = arr[0]; rc.re += arr[1].re;
  c[i + 400] = arr[0] * arr[2];
}

struct Params { int n; float scale[3]; const float *in; float *out; Plain inner; };
__global__ void by_value(float *out, const float *in, Plain q, int n, char small, bool flag, short s, unsigned char u, long long l) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  Params p; p.n = n; p.inner = q; for (int k = 0; k < 3; ++k) p.scale[k] = k + 0.5f;
  q.a += i;
  small += 100; u -= 200; s *= 1000;
  out[i] = in[i] * p.scale[i % 3] + p.inner.a + q.a + small + (flag ? 1 : 2) + s + u + l;
  n -= i;
  out[i + 100] = n + p.n;
  in += 5;
  out[i + 200] = in[i] + *in++ + *in;
  out[i + 300] = p.inner.b + q.b;
}

__global__ void snapshots(int *a, int *b, int n) {
  int i = blockIdx.x * 32 + threadIdx.y * 16 + threadIdx.x;
  int k = 2, m = 5;
  auto inc = [&]() { return ++k; };
  a[i + 100] = (inc(), k) * 3; a[i + 100] += inc();
  int *p = a + i + k; k = 50; *p += k;
  a[i + 200] = *p;
  int v = k; int &r = k; r = 1; a[i + 300] = v + k + r;
  int x[2] = {1, 2}; int ix = 0; x[ix] = ix = 1; a[i + 400] = x[0] * 10 + x[1];
  int c1 = b[i] > 0 ? (m = 3, m + k) : inc(); a[i + 500] = c1 + m + k;
  bool t = b[i] > 2 && (k = b[i]) > 5 && inc() > 7; a[i + 600] = t * 1000 + k;
  for (int q = 0; q < 3 && (m += q) < 20; q += (b[i] & 1) + 1) k += q * m; a[i + 700] = k + m;
  int w = 10; while ((w -= 3) > 0 && inc() < 1000) { if (w == 4) continue; m++; } a[i + 800] = w + m + k;
  int old = a[i + 900]; a[i + 900] = b[i]; a[i + 1000] = old + a[i + 900];
  int *cur = a + 1100, *nxt = a + 1200; for (int q = 0; q < 3; ++q) { nxt[i] = cur[i] + q; int *tmp = cur; cur = nxt; nxt = tmp; }
  unsigned char uc = 255; int sh = uc++ << 1; a[i + 1300] = sh + uc; a[i + 1300] += (uc -= 1);
  long long big = 1LL << 40; big |= (unsigned)b[i]; b[i + 100] = (int)(big >> 33) + (int)big;
  int d = 7; d = d++ + 2; b[i + 200] = d;
  int e = 3; e = (e += 2) * 4; b[i + 300] = e;
  const int lim = n % 7; for (int q = lim; q--;) b[i + 400] += q;
  float acc = 0; for (float h = 0; h < 1.0f; h += 0.1f) acc += h; b[i + 500] = acc * 1e6f;
  int g = 0; for (g = 2; g < 9; g += 3) if (b[i] == g) break; b[i + 600] = g;
  unsigned down = n; for (unsigned q = down - 1; q < down; --q) b[i + 700] += q & 3;
  for (int q = 0; q < 4; ++q) for (int q2 = q; q2 < 4; ++q2) { if (q2 == 3) break; if (q == 1) continue; b[i + 800] += q * q2; }
  int lo = 0, hi = 31; while (lo < hi) { int mid = (lo + hi) >> 1; if (b[mid] < b[i]) lo = mid + 1; else hi = mid; } b[i + 900] = lo;
  { int i = 3; int k = i * 2; b[1000] = k; { int k = 9; b[1001] = k + i; } }
}
