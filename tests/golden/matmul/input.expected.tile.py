"""TileLang for the CUDA kernels of input.cu."""

import tilelang.language as T


# from input.cu:1
# __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K)
# Exact where block_z, grid_z are 1.
def matmul(target="c", block_M=64, block_N=64, block_K=32):
    SMEM, FRAG, PAR = "shared.dyn", "local.fragment", T.Parallel
    if target == "c":
        SMEM, FRAG, PAR = "local", "local", T.grid

    @T.prim_func
    def matmul(
        A_ptr: T.handle,
        B_ptr: T.handle,
        C_ptr: T.handle,
        M: T.int32,
        N: T.int32,
        K: T.int32,
        grid_x: T.int32,
        grid_y: T.int32,
        grid_z: T.int32,
        block_x: T.int32,
        block_y: T.int32,
        block_z: T.int32,
    ):
        rows = T.min(M, grid_y * block_y)
        cols = T.min(N, grid_x * block_x)
        depth = K
        A = T.match_buffer(A_ptr, (rows, depth), "float32")
        B = T.match_buffer(B_ptr, (depth, cols), "float32", strides=(N, 1))
        C = T.match_buffer(C_ptr, (rows, cols), "float32", strides=(N, 1))
        with T.Kernel(
            T.max(T.ceildiv(cols, block_N), 1),
            T.max(T.ceildiv(rows, block_M), 1),
            threads=128,
        ) as (bx, by):
            A_tile = T.alloc_shared((block_M, block_K), "float32", scope=SMEM)
            B_tile = T.alloc_shared((block_K, block_N), "float32", scope=SMEM)
            C_tile = T.alloc_fragment((block_M, block_N), "float32", scope=FRAG)
            sum = T.alloc_var("float32")
            T.clear(C_tile)
            for ko in T.Pipelined(T.ceildiv(depth, block_K), num_stages=2):
                T.copy(A[by * block_M, ko * block_K], A_tile)
                T.copy(B[ko * block_K, bx * block_N], B_tile)
                T.gemm(A_tile, B_tile, C_tile)
            for i, j in PAR(block_M, block_N):
                row = by * block_M + i
                col = bx * block_N + j
                if row < rows and col < cols:
                    sum = C_tile[i, j]
                    C[row, col] = sum

    return matmul
