#include "kernels.cuh"

// The same names as in main.cu, other kernels.
namespace { __global__ void hidden(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 10; } }
static __global__ void local(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 20; }

__global__ void declared_extern(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
extern "C" __global__ void c_name(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }
__global__ void outer::inner::nested(int *x, int n) { int i = GLOBAL_INDEX; if (i < n) x[i] += 1; }

int second_unit(int *x, int n) {
  hidden<<<2, 32>>>(x, n);
  local<<<2, 32>>>(x, n);
  in_header<<<2, 32>>>(x, n);
  inline_kernel<<<2, 32>>>(x, n);
  declared_template<<<2, 32>>>(x, n);
  bounded<int, 3><<<2, 32>>>(x, n);
  return 10 + 20 + 1 + 1 + 1 + 3;
}
