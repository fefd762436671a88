"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void steps(const unsigned* in, int* out, int n)
def steps():
    in_1_len = T.dynamic("in_1_len")
    out_len = T.dynamic("out_len")

    @T.prim_func
    def steps(
        in_1: T.Tensor((in_1_len,), "uint32"),
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
            v = T.alloc_var("uint32")
            count = T.alloc_var("int32")
            subject = T.alloc_var("int32")
            falling = T.alloc_var("bool")
            t = T.alloc_var("uint32")
            for tz in T.serial(block_z):
                for ty in T.serial(block_y):
                    for tx in T.serial(block_x):
                        i = bx * block_x + tx
                        if i < n:
                            v = in_1[i]
                            count = 0
                            while v > T.uint32(1):
                                if count == 50:
                                    break
                                count = count + 1
                                t = T.truncmod(v, T.uint32(2))
                                if t == T.uint32(0):
                                    v = T.truncdiv(v, T.uint32(2))
                                    continue
                                v = T.uint32(3) * v + T.uint32(1)
                            subject = count & 3
                            falling = T.bool(False)
                            if falling or subject == 0:
                                falling = T.bool(True)
                                count = count + 10
                            else:
                                if falling or subject == 1:
                                    falling = T.bool(True)
                                    count = count + 20
                                if falling or not (subject == 0 or subject == 1):
                                    falling = T.bool(True)
                                    count = -count
                            out[i] = count

    return steps
