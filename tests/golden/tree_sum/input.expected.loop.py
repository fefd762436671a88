"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void tree_sum(const float* in, float* out, int n)
def tree_sum(shared_bytes=0):
    in_1_len = T.dynamic("in_1_len")
    out_len = T.dynamic("out_len")

    @T.prim_func
    def tree_sum(
        in_1: T.Tensor((in_1_len,), "float32"),
        out: T.Tensor((out_len,), "float32"),
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
            T.annotate_restrict_buffers(in_1, out)
            s = T.alloc_local((shared_bytes // 4,), "float32")
            k = T.alloc_var("int32")
            t = T.alloc_var("int32")
            t_2 = T.alloc_var("uint32")
            t_3 = T.alloc_var("int32")
            t_4 = T.alloc_var("uint32")
            t_5 = T.alloc_var("uint32")
            t_6 = T.alloc_var("int32")
            t_7 = T.alloc_var("uint32")
            t_8 = T.alloc_var("int32")
            t_9 = T.alloc_var("uint32")
            t_10 = T.alloc_var("int32")
            t_11 = T.alloc_var("uint32")
            t_12 = T.alloc_var("float32")
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        i = bx * block_x + tx
                        t = tx
                        t_2 = T.cast(t, "uint32")
                        if i < n:
                            s[T.cast(t_2, "int64")] = in_1[i]
                        else:
                            s[T.cast(t_2, "int64")] = 0.0
            k = T.truncdiv(block_x, T.int32(2))
            while k > 0:
                for tz in T.serial(block_z):
                    for ty in T.serial(block_y):
                        for tx in T.serial(block_x):
                            t_3 = tx
                            t_4 = T.cast(t_3, "uint32")
                            t_5 = T.cast(k, "uint32")
                            if t_4 < t_5:
                                t_6 = tx
                                t_7 = T.cast(t_6, "uint32")
                                t_8 = tx
                                t_9 = T.cast(t_8, "uint32")
                                t_10 = tx
                                t_11 = T.cast(t_10, "uint32") + T.cast(k, "uint32")
                                t_12 = s[T.cast(t_11, "int64")]
                                s[T.cast(t_7, "int64")] = s[T.cast(t_9, "int64")] + t_12
                k = k >> 1
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        if tx == 0:
                            T.atomic_add(out[0], s[0])

    return tree_sum
