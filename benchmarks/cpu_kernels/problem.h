// What one kernel of the benchmark works on. Arrays are managed memory, so that all variants use
// the same: kept and migrated CUDA kernels, and OpenMP C++.
#ifndef PROBLEM_H
#define PROBLEM_H

struct Problem {
    void *in[5];
    void *out[3];
    int n[4];
    float value;
};

#define FOR_EACH_KERNEL(X) \
    X(saxpy)               \
    X(heat2d)              \
    X(stencil3d)           \
    X(matmul_naive)        \
    X(matmul_tiled)        \
    X(reduce_blocks)       \
    X(scan_blocks)         \
    X(transpose)           \
    X(histogram)           \
    X(nbody)               \
    X(softmax_rows)        \
    X(layernorm)           \
    X(blur)                \
    X(spmv_csr)            \
    X(black_scholes)       \
    X(life)

#define DECLARE(name) void name(const Problem &p);
namespace kept {
FOR_EACH_KERNEL(DECLARE)
}
namespace migrated {
FOR_EACH_KERNEL(DECLARE)
}
namespace openmp {
FOR_EACH_KERNEL(DECLARE)
}
#undef DECLARE

#endif
