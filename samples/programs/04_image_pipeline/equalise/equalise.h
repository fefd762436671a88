// Histogram equalisation, and a stack of images as one volume.
#pragma once
#include <cuda_runtime_api.h>

#include "image.h"

struct Workspace {
  unsigned *histogram;   // 256
  unsigned char *levels; // 256: the new value of each old one
};

cudaError_t equalise(Image<unsigned char> image, Workspace workspace, cudaStream_t stream);
// The largest value of each pixel over the slices of a pitched volume.
cudaError_t project(cudaPitchedPtr volume, int depth, Image<unsigned char> target, cudaStream_t stream);
