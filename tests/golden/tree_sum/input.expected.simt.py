"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void tree_sum(const float* in, float* out, int n)
def tree_sum(block, shared_bytes=0):
    in_1_len = T.dynamic("in_1_len")
    out_len = T.dynamic("out_len")
    if tuple(block) == (1, 1, 1):
        raise ValueError("TileLang miscompiles blocks of one thread: use level loop")
    block_x, _block_y, _block_z = map(T.int32, block)

    @T.prim_func
    def tree_sum(
        in_1: T.Tensor((in_1_len,), "float32"),
        out: T.Tensor((out_len,), "float32"),
        n: T.int32,
        grid_x: T.int32,
        grid_y: T.int32,
        grid_z: T.int32,
    ):
        with T.Kernel(grid_x, grid_y, grid_z, threads=block) as (bx, _by, _bz):
            tx, _ty, _tz = T.get_thread_bindings()
            # May overlap: not __restrict__.
            T.annotate_restrict_buffers(in_1, out)
            s = T.alloc_shared((shared_bytes // 4,), "float32")
            k = T.alloc_var("int32")
            i = bx * block_x + tx
            s[tx] = T.if_then_else(i < n, in_1[i], T.float32(0.0))
            T.sync_threads()
            k = T.truncdiv(block_x, T.int32(2))
            while k > 0:
                if tx < k:
                    s[tx] = s[tx] + s[tx + k]
                T.sync_threads()
                k = k >> 1
            if tx == 0:
                T.atomic_add(out[0], s[0])

    return tree_sum
