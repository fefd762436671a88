#define SCALE 2
#define OFFSET 5
#include <cuda_runtime.h>

#include "ops.h"
// The order matters.
#include "k.cuh"

void scale_in_a(int *x, int n) { scale<<<(n + 31) / 32, 32>>>(x, n); }
