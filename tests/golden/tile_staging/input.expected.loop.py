"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void reverse_tiles(const int* in, int* out, int n)
def reverse_tiles():
    in_1_len = T.dynamic("in_1_len")
    out_len = T.dynamic("out_len")

    @T.prim_func
    def reverse_tiles(
        in_1: T.Tensor((in_1_len,), "int32"),
        out: T.Tensor((out_len,), "int32"),
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
            tile = T.alloc_local((64,), "int32")
            mine_all = T.alloc_local((1024,), "int32")
            other_all = T.alloc_local((1024,), "int32")
            i = T.alloc_var("int32")
            mine = T.alloc_var("int32")
            other = T.alloc_var("int32")
            tid = T.alloc_var("int32")
            t = T.alloc_var("uint32")
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        tid = (tz * block_y + ty) * block_x + tx
                        i = bx * 64 + tx
                        mine = T.if_then_else(i < n, in_1[i], T.int32(0))
                        tile[tx] = mine
                        mine_all[tid] = mine
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        tid = (tz * block_y + ty) * block_x + tx
                        t = T.uint32(63) - T.cast(tx, "uint32")
                        other = tile[T.cast(t, "int64")]
                        other_all[tid] = other
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        tid = (tz * block_y + ty) * block_x + tx
                        mine = mine_all[tid]
                        other = other_all[tid]
                        i = bx * 64 + tx
                        if i < n:
                            out[i] = other - mine

    return reverse_tiles
