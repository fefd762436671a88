"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K)
def matmul(block):
    A_len = T.dynamic("A_len")
    B_len = T.dynamic("B_len")
    C_len = T.dynamic("C_len")
    if tuple(block) == (1, 1, 1):
        raise ValueError("TileLang miscompiles blocks of one thread: use level loop")
    block_x, block_y, _block_z = map(T.int32, block)

    @T.prim_func
    def matmul(
        A: T.Tensor((A_len,), "float32"),
        B: T.Tensor((B_len,), "float32"),
        C: T.Tensor((C_len,), "float32"),
        M: T.int32,
        N: T.int32,
        K: T.int32,
        grid_x: T.int32,
        grid_y: T.int32,
        grid_z: T.int32,
    ):
        with T.Kernel(grid_x, grid_y, grid_z, threads=block) as (bx, by, _bz):
            tx, ty, _tz = T.get_thread_bindings()
            # May overlap: not __restrict__.
            T.annotate_restrict_buffers(A, B, C)
            sum = T.alloc_var("float32")
            row = by * block_y + ty
            col = bx * block_x + tx
            if row < M and col < N:
                sum = 0.0
                for k in T.serial(K):
                    sum = sum + A[row * K + k] * B[k * N + col]
                C[row * N + col] = sum

    return matmul
