// Sparse matrix-vector product in CSR: one thread per row, and one block per row.
// Usage: spmv [rows]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define ROW_THREADS 32

__global__ void spmv_scalar(int rows, const int *row_ptr, const int *col_idx, const double *values,
                            const double *x, double *y) {
    const int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        double dot = 0.0;
        const int end = row_ptr[row + 1];
        for (int jj = row_ptr[row]; jj < end; jj++) {
            dot += values[jj] * x[col_idx[jj]];
        }
        y[row] += dot;
    }
}

__global__ void spmv_block(int rows, const int *row_ptr, const int *col_idx, const double *values,
                           const double *x, double *y) {
    __shared__ double partial[ROW_THREADS];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        double sum = 0.0;
        for (int jj = row_ptr[row] + threadIdx.x; jj < row_ptr[row + 1]; jj += ROW_THREADS) {
            sum += values[jj] * x[col_idx[jj]];
        }
        partial[threadIdx.x] = sum;
        __syncthreads();
        for (int s = ROW_THREADS / 2; s > 0; s >>= 1) {
            if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
            __syncthreads();
        }
        if (threadIdx.x == 0) y[row] += partial[0];
        __syncthreads();
    }
}

struct Csr {
    std::vector<int> row_ptr, col_idx;
    std::vector<double> values;
};

static Csr make_matrix(int rows) {
    Csr m;
    m.row_ptr.push_back(0);
    unsigned state = 99u;
    for (int r = 0; r < rows; ++r) {
        state = state * 1664525u + 1013904223u;
        const int filled = static_cast<int>(state >> 28) + (r % 16 == 0 ? 40 : 0);
        for (int k = 0; k < filled; ++k) {
            state = state * 1664525u + 1013904223u;
            m.col_idx.push_back(static_cast<int>((state >> 4) % static_cast<unsigned>(rows)));
            m.values.push_back(static_cast<double>(state >> 20) / 4096.0 - 0.5);
        }
        m.row_ptr.push_back(static_cast<int>(m.col_idx.size()));
    }
    return m;
}

template <typename T>
static T *upload(const std::vector<T> &host) {
    T *device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 500;
    const Csr m = make_matrix(rows);
    std::vector<double> x(rows), y(rows, 1.0), got(rows);
    for (int i = 0; i < rows; ++i) x[i] = std::sin(0.1 * i);

    int *d_ptr = upload(m.row_ptr), *d_col = upload(m.col_idx);
    double *d_val = upload(m.values), *d_x = upload(x), *d_y = upload(y);
    spmv_scalar<<<(rows + 127) / 128, 128>>>(rows, d_ptr, d_col, d_val, d_x, d_y);
    CHECK(cudaGetLastError());
    spmv_block<<<rows < 64 ? rows : 64, ROW_THREADS>>>(rows, d_ptr, d_col, d_val, d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_y, rows * sizeof(double), cudaMemcpyDeviceToHost));
    cudaFree(d_ptr);
    cudaFree(d_col);
    cudaFree(d_val);
    cudaFree(d_x);
    cudaFree(d_y);

    double worst = 0.0;
    for (int r = 0; r < rows; ++r) {
        double want = 0.0;
        for (int j = m.row_ptr[r]; j < m.row_ptr[r + 1]; ++j) want += m.values[j] * x[m.col_idx[j]];
        worst = std::fmax(worst, std::fabs(1.0 + 2.0 * want - got[r]));
    }
    printf("spmv %d rows, %zu entries, max error %.2e: %s\n", rows, m.values.size(), worst,
           worst < 1e-10 ? "PASS" : "FAIL");
    return worst < 1e-10 ? 0 : 1;
}
