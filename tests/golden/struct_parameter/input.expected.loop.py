"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:7
# __global__ void gather(double* view_data, int view_stride, short view_shift_0, short
#     view_shift_1, const long long* index, double* out, int n)
def gather():
    view_data_len = T.dynamic("view_data_len")
    index_len = T.dynamic("index_len")
    out_len = T.dynamic("out_len")

    @T.prim_func
    def gather(
        view_data: T.Tensor((view_data_len,), "float64"),
        view_stride: T.int32,
        view_shift_0: T.int16,
        view_shift_1: T.int16,
        index: T.Tensor((index_len,), "int64"),
        out: T.Tensor((out_len,), "float64"),
        n: T.int32,
        grid_x: T.int32,
        grid_y: T.int32,
        grid_z: T.int32,
        block_x: T.int32,
        block_y: T.int32,
        block_z: T.int32,
    ):
        with T.Kernel(grid_x, grid_y, grid_z, threads=1) as (bx, _by, _bz):
            # May overlap: not __restrict__.
            T.annotate_restrict_buffers(view_data, index, out)
            view_shift = T.alloc_local((2,), "int16")
            view_data_1 = T.alloc_var("int64")
            view_stride_1 = T.alloc_var("int32")
            t = T.alloc_var("int64")
            t_2 = T.alloc_var("int64")
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        view_data_1 = T.int64(0)
                        view_stride_1 = view_stride
                        view_shift[0] = view_shift_0
                        view_shift[1] = view_shift_1
                        i = bx * block_x + tx
                        if i < n:
                            t = index[i] * T.cast(view_stride_1, "int64")
                            t_2 = t + T.cast(view_shift[i & 1], "int64")
                            out[i] = view_data[view_data_1 + t_2]

    return gather
