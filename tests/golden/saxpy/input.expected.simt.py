"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void saxpy(int n, float a, const float* x, float* y)
def saxpy(block):
    x_len = T.dynamic("x_len")
    y_len = T.dynamic("y_len")
    if tuple(block) == (1, 1, 1):
        raise ValueError("TileLang miscompiles blocks of one thread: use level loop")
    block_x, _block_y, _block_z = map(T.int32, block)

    @T.prim_func
    def saxpy(
        n: T.int32,
        a: T.float32,
        x: T.Tensor((x_len,), "float32"),
        y: T.Tensor((y_len,), "float32"),
        grid_x: T.int32,
        grid_y: T.int32,
        grid_z: T.int32,
    ):
        with T.Kernel(grid_x, grid_y, grid_z, threads=block) as (bx, _by, _bz):
            tx, _ty, _tz = T.get_thread_bindings()
            # May overlap: not __restrict__.
            T.annotate_restrict_buffers(x, y)
            i = bx * block_x + tx
            if i < n:
                y[i] = a * x[i] + y[i]

    return saxpy
