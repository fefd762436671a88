// See cub.cuh.
#include "../cub.cuh"
