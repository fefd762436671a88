// Shared memory in every form: static, dynamic, in helpers, templates, classes, of several types.
#include <cstdio>

#include <cuda_runtime.h>

extern __shared__ char outer_raw[];
extern __shared__ __align__(16) double outer_doubles[];

__device__ int *view_in_helper() {
  extern __shared__ int helper_view[];
  return helper_view;
}
__device__ double *outer_in_helper() { return outer_doubles; }

template <class T> struct Dynamic {
  __device__ operator T *() const {
    extern __shared__ __align__(sizeof(double)) unsigned char memory_of_struct[];
    return reinterpret_cast<T *>(memory_of_struct);
  }
};
template <> struct Dynamic<double> {
  __device__ operator double *() const {
    extern __shared__ double doubles_of_struct[];
    return (double *)doubles_of_struct;
  }
};

template <class T> __device__ T static_in_helper(T value) {
  __shared__ T cell[32];
  cell[threadIdx.x] = value;
  __syncthreads();
  T other = cell[31 - threadIdx.x];
  __syncthreads();
  return other;
}

__global__ void helpers(int *out) {
  int *view = view_in_helper();
  view[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = view[31 - threadIdx.x];
}
__global__ void outer_arrays(int *out) {
  outer_in_helper()[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = (int)outer_doubles[31 - threadIdx.x] + outer_raw[0];
}
template <class T> __global__ void templated(int *out) {
  Dynamic<T> memory;
  T *view = memory;
  view[threadIdx.x] = (T)threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = (int)view[31 - threadIdx.x];
}
template <class T> __global__ void same_name(int *out) {
  extern __shared__ __align__(sizeof(T)) unsigned char smem[];
  T *view = (T *)smem;
  view[threadIdx.x] = (T)threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = (int)view[31 - threadIdx.x];
}
__global__ void carved(int *out, int n) {
  extern __shared__ float floats[];
  float *first = floats;
  double *second = (double *)&first[n];
  unsigned char *third = (unsigned char *)(second + n);
  first[threadIdx.x] = 1, second[threadIdx.x] = threadIdx.x, third[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int i = n - 1 - threadIdx.x;
  out[threadIdx.x] = (int)(first[i] + second[i] + third[i]) / 2;
}
__global__ void two_of_one_kernel(int *out) {
  extern __shared__ int a[];
  __shared__ int fixed[32], other[2][16];
  a[threadIdx.x] = 1;
  fixed[threadIdx.x] = threadIdx.x;
  other[threadIdx.x / 16][threadIdx.x % 16] = 2 * threadIdx.x;
  __syncthreads();
  int i = 31 - threadIdx.x;
  out[threadIdx.x] = a[i] + other[i / 16][i % 16] - fixed[i] - 1;
}
__global__ void odd_declarations(int *out) {
  extern  __shared__   int
      spread [ ] ;
  __shared__ extern volatile int reversed[];
  extern volatile __shared__ int rows[][8];
  static __shared__ int kept;
  __shared__ struct { int a; float b; } record;
  __shared__ __align__(16) int4 vector;
  __shared__ int *pointer;
  volatile __shared__ int flag;
  const int me = threadIdx.x;
  spread[me] = me;
  if (me == 0) kept = 1, record.a = 2, record.b = 3, vector = make_int4(4, 5, 6, 7), pointer = out, flag = 8;
  __syncthreads();
  int ok = reversed[me] == me && rows[me / 8][me % 8] == me && kept == 1 && record.a == 2 && record.b == 3.f &&
           vector.w == 7 && pointer == out && flag == 8;
  pointer[me] = ok ? spread[31 - me] : -1;
}
template <class T, int N> __global__ void fixed_size(int *out) {
  __shared__ T tile[N][N + 1];
  tile[threadIdx.y][threadIdx.x] = (T)(threadIdx.y * N + threadIdx.x);
  __syncthreads();
  int i = threadIdx.y * N + threadIdx.x;
  if (i < 32) out[i] = (int)tile[(31 - i) / N][(31 - i) % N];
}
struct Scoped {
  static __device__ int reversed(int value) {
    __shared__ int cell[32];
    cell[threadIdx.x] = value;
    __syncthreads();
    int result = cell[31 - threadIdx.x];
    __syncthreads();
    return result;
  }
};
__global__ void branches(int *out, bool which) {
  if (which) {
    __shared__ int a[32];
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = a[31 - threadIdx.x];
  } else {
    extern __shared__ int b[];
    b[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = b[31 - threadIdx.x];
  }
}
__global__ void through_helpers(int *out) {
  int v = static_in_helper<int>(threadIdx.x);
  float f = static_in_helper<float>(threadIdx.x);
  out[threadIdx.x] = v == (int)f ? Scoped::reversed(threadIdx.x) : -1;
}
#define SHARED(type, name, size) __shared__ type name[size]
#define DYNAMIC(type, name) extern __shared__ type name[]
__global__ void by_macro(int *out) {
  SHARED(int, tile, 32);
  DYNAMIC(int, more);
  tile[threadIdx.x] = threadIdx.x, more[threadIdx.x] = 2 * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = more[31 - threadIdx.x] - tile[31 - threadIdx.x];
}
// Each block sees its own.
__global__ void per_block(int *out, int blocks) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, blockIdx.x + 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&out[31 - blockIdx.x % 32], sum == 32 * (blockIdx.x + 1) ? (int)(blockIdx.x % 32) : -1000);
}

static int *x;
static int check(const char *what) {
  int host[32], wrong = cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) wrong += host[i] != 31 - i;
  if (wrong) std::printf("%s: %d\n", what, wrong);
  cudaMemset(x, 0, sizeof host);
  return wrong;
}

int main() {
  int wrong = 0;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  helpers<<<1, 32, 32 * sizeof(int)>>>(x); wrong += check("helpers");
  outer_arrays<<<1, 32, 32 * sizeof(double)>>>(x); wrong += check("outer_arrays");
  templated<int><<<1, 32, 32 * sizeof(int)>>>(x); wrong += check("templated<int>");
  templated<double><<<1, 32, 32 * sizeof(double)>>>(x); wrong += check("templated<double>");
  same_name<float><<<1, 32, 32 * sizeof(float)>>>(x); wrong += check("same_name<float>");
  same_name<double><<<1, 32, 32 * sizeof(double)>>>(x); wrong += check("same_name<double>");
  same_name<char><<<1, 32, 32>>>(x); wrong += check("same_name<char>");
  carved<<<1, 32, 32 * (sizeof(float) + sizeof(double) + 1)>>>(x, 32);
  {
    int host[32];
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) wrong += host[i] != (1 + 2 * (31 - i)) / 2;
    cudaMemset(x, 0, sizeof host);
  }
  two_of_one_kernel<<<1, 32, 32 * sizeof(int)>>>(x); wrong += check("two_of_one_kernel");
  odd_declarations<<<1, 32, 32 * sizeof(int)>>>(x); wrong += check("odd_declarations");
  fixed_size<int, 8><<<1, dim3(8, 8)>>>(x); wrong += check("fixed_size<int>");
  fixed_size<double, 8><<<1, dim3(8, 8)>>>(x); wrong += check("fixed_size<double>");
  branches<<<1, 32, 32 * sizeof(int)>>>(x, true); wrong += check("branches");
  branches<<<1, 32, 32 * sizeof(int)>>>(x, false); wrong += check("branches");
  through_helpers<<<1, 32>>>(x); wrong += check("through_helpers");
  by_macro<<<1, 32, 32 * sizeof(int)>>>(x); wrong += check("by_macro");
  per_block<<<32, 32>>>(x, 32); wrong += check("per_block");
  std::printf("shared_forms: %d wrong\n", wrong);
  return wrong != 0;
}
