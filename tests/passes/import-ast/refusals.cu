// One construct a kernel that import refuses, with the code and the place.
#include <cstdio>
#include <cassert>
__device__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__device__ int ext(int);
__device__ int one(int a) { return a; }
__global__ void recursion(int *a) { a[0] = fact(a[0]); }
__global__ void nobody(int *a) { a[0] = ext(a[0]); }
__global__ void indirect(int *a, int (*f)(int)) { a[0] = f(a[0]); }
__global__ void indirect2(int *a) { int (*f)(int) = one; a[0] = f(a[0]); }
__global__ void ptrselect(int *a, int *b, int c) { int *p = c ? a : b; *p = 1; }
__global__ void ptrswap(int *a, int *b, int n) { for (int i = 0; i < n; ++i) { int *t = a; a = b; b = t; } a[0] = 1; }
__global__ void ptrptr(int **a) { a[0][0] = 1; }
__global__ void warp(int *a) { a[0] = __shfl_down_sync(0xffffffffu, a[0], 1); }
__global__ void syncwarp(int *a) { __syncwarp(); a[0] = 1; }
__global__ void count(int *a) { a[0] = __syncthreads_count(a[0]); }
__global__ void print(int *a) { printf("%d\n", a[0]); }
__global__ void asserted(int *a) { assert(a[0] > 0); a[0] = 1; }
__global__ void gotos(int *a) { if (a[0]) goto out; a[0] = 1; out: a[1] = 2; }
__global__ void heap(int *a) { int *p = new int[3]; p[0] = a[0]; delete[] p; }
__global__ void heap2(int *a) { int *p = (int *)malloc(12); p[0] = a[0]; }
union U { int i; float f; };
__global__ void unions(int *a) { U u; u.f = 1; a[0] = u.i; }
struct BF { int a : 3; int b : 5; };
__global__ void bits(BF *a) { a[0].a = 1; }
__global__ void longd(int *a) { long double x = a[0]; a[0] = x; }
__global__ void nullp(int *a) { if (a != nullptr) a[0] = 1; }
__global__ void unaligned(char *f) { *(int *)(f + 2) = 1; }
__global__ void statics(int *a) { static int n; a[0] = ++n; }
__global__ void str(char *a) { const char *s = "abc"; a[0] = s[1]; }
__global__ void clk(long long *a) { a[0] = clock64(); }
__global__ void duff(int *a, int n) { switch (n) { case 0: do { a[0]++; case 1: a[0]++; } while (--n > 0); } }
__global__ void vararr(float *a) { float x[3]; float y[3]; for (int i = 0; i < 3; i++) x[i] = a[i]; float *p = x; if (a[0] > 0) p = y; a[0] = p[0]; }
struct V { virtual __device__ int f() { return 1; } int x; };
__global__ void virt(int *a) { V v; V *p = &v; a[0] = p->f(); }
__global__ void ptrint(int *a) { a[0] = (size_t)a & 15; }
__global__ void dp4(int *a) { a[0] = __dp4a(a[0], a[1], 3); }
