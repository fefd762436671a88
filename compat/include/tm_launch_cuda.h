// The launch seam of programs on a GPU: what implementations that nvcc compiled need beside
// tm_launch.h. Everything is called from within an implementation, on its OS thread.
#ifndef TM_LAUNCH_CUDA_H
#define TM_LAUNCH_CUDA_H

#include "tm_launch.h"

#ifdef __cplusplus
extern "C" {
#endif

// Launches the __global__ function, past the seam, on the launch's stream. Returns a cudaError;
// TM_NOT_APPLICABLE, with nothing launched, where a dimension is outside what a GPU takes or the
// program asked for more than a plain launch (cooperative, clusters, other attributes).
int tm_gpu_launch(const tm_launch *launch, const void *function, const int64_t grid[3], const int64_t block[3],
                  uint64_t shared_bytes, void **values);

// Check mode compares and prints the variable of this qualified name by this enum tm_element.
void tm_gpu_describe(const char *qualified, int element);

// Device address of the __device__, __constant__ or __managed__ variable that the launched kernel
// knows under this qualified name (unnamed namespaces left out). NULL: none, or several.
void *tm_gpu_symbol(const char *qualified);

#ifdef __cplusplus
}
#endif
#endif
