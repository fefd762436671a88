"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void saxpy(int n, float a, const float* x, float* y)
# Exact where block_y, block_z, grid_y, grid_z are 1.
def saxpy(tile_x=1024):
    x_len = T.dynamic("x_len")
    y_len = T.dynamic("y_len")

    @T.prim_func
    def saxpy(
        n: T.int32,
        a: T.float32,
        x: T.Tensor((x_len,), "float32"),
        y: T.Tensor((y_len,), "float32"),
        grid_x: T.int32,
        grid_y: T.int32,
        grid_z: T.int32,
        block_x: T.int32,
        block_y: T.int32,
        block_z: T.int32,
    ):
        extent_x = T.min(n, grid_x * block_x)
        with T.Kernel(T.max(T.ceildiv(extent_x, tile_x), 1), threads=256) as bx:
            for i_in in T.Parallel(tile_x):
                i = bx * tile_x + i_in
                if i < extent_x:
                    y[i] = a * x[i] + y[i]

    return saxpy
