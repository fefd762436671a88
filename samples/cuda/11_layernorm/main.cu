// Layer normalisation over the last dimension, forward and the gradients of gamma and beta.
// Usage: layernorm [rows cols]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                \
    do {                                                                                \
        const cudaError_t error = (call);                                               \
        if (error != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__,                      \
                    cudaGetErrorName(error), cudaGetErrorString(error));                \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

__global__ void layernorm_forward(float *__restrict__ out, float *__restrict__ mean,
                                  float *__restrict__ rstd, const float *__restrict__ in,
                                  const float *__restrict__ gamma, const float *__restrict__ beta,
                                  int cols, float eps) {
    extern __shared__ float shared[];
    float *sums = shared;
    float *squares = shared + blockDim.x;

    const int row = blockIdx.x;
    const int tid = threadIdx.x;
    const float *x = in + static_cast<size_t>(row) * cols;

    float s = 0.0f;
    float q = 0.0f;
    for (int c = tid; c < cols; c += blockDim.x) {
        const float v = x[c];
        s += v;
        q += v * v;
    }
    sums[tid] = s;
    squares[tid] = q;
    __syncthreads();

    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        if (tid < stride) {
            sums[tid] += sums[tid + stride];
            squares[tid] += squares[tid + stride];
        }
        __syncthreads();
    }

    const float m = sums[0] / cols;
    const float variance = squares[0] / cols - m * m;
    const float r = 1.0f / sqrtf(variance + eps);
    if (tid == 0) {
        mean[row] = m;
        rstd[row] = r;
    }
    for (int c = tid; c < cols; c += blockDim.x) {
        out[static_cast<size_t>(row) * cols + c] = (x[c] - m) * r * gamma[c] + beta[c];
    }
}

__global__ void layernorm_grad_affine(float *dgamma, float *dbeta, const float *dout,
                                      const float *in, const float *mean, const float *rstd,
                                      int rows, int cols) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float dg = 0.0f, db = 0.0f;
    for (int r = 0; r < rows; r++) {
        const float g = dout[r * cols + c];
        dg += g * (in[r * cols + c] - mean[r]) * rstd[r];
        db += g;
    }
    dgamma[c] = dg;
    dbeta[c] = db;
}

static float *to_device(const std::vector<float> &host) {
    float *device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
    return device;
}

static void to_host(std::vector<float> &host, float *device) {
    CUDA_CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(float),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 29;
    const int cols = argc > 2 ? atoi(argv[2]) : 200;
    const int threads = 128;
    const float eps = 1e-5f;

    std::vector<float> in(rows * cols), out(rows * cols), dout(rows * cols);
    std::vector<float> gamma(cols), beta(cols), dgamma(cols), dbeta(cols), mean(rows), rstd(rows);
    for (int i = 0; i < rows * cols; ++i) {
        in[i] = std::sin(0.31f * i) + 0.002f * (i % cols);
        dout[i] = std::cos(0.17f * i);
    }
    for (int c = 0; c < cols; ++c) {
        gamma[c] = 1.0f + 0.01f * (c % 5);
        beta[c] = 0.1f * (c % 3);
    }

    float *d_in = to_device(in), *d_out = to_device(out), *d_dout = to_device(dout);
    float *d_gamma = to_device(gamma), *d_beta = to_device(beta);
    float *d_dgamma = to_device(dgamma), *d_dbeta = to_device(dbeta);
    float *d_mean = to_device(mean), *d_rstd = to_device(rstd);

    layernorm_forward<<<rows, threads, 2 * threads * sizeof(float)>>>(d_out, d_mean, d_rstd, d_in,
                                                                      d_gamma, d_beta, cols, eps);
    CUDA_CHECK(cudaGetLastError());
    layernorm_grad_affine<<<(cols + 63) / 64, 64>>>(d_dgamma, d_dbeta, d_dout, d_in, d_mean, d_rstd,
                                                    rows, cols);
    CUDA_CHECK(cudaGetLastError());
    to_host(out, d_out);
    to_host(dgamma, d_dgamma);
    to_host(dbeta, d_dbeta);
    for (float *p : {d_in, d_dout, d_gamma, d_beta, d_mean, d_rstd}) CUDA_CHECK(cudaFree(p));

    double worst = 0.0;
    std::vector<double> want_dgamma(cols, 0.0), want_dbeta(cols, 0.0);
    for (int r = 0; r < rows; ++r) {
        double m = 0.0, v = 0.0;
        for (int c = 0; c < cols; ++c) m += in[r * cols + c];
        m /= cols;
        for (int c = 0; c < cols; ++c) v += (in[r * cols + c] - m) * (in[r * cols + c] - m);
        const double rs = 1.0 / std::sqrt(v / cols + eps);
        for (int c = 0; c < cols; ++c) {
            const double norm = (in[r * cols + c] - m) * rs;
            worst = std::fmax(worst, std::fabs(norm * gamma[c] + beta[c] - out[r * cols + c]));
            want_dgamma[c] += dout[r * cols + c] * norm;
            want_dbeta[c] += dout[r * cols + c];
        }
    }
    for (int c = 0; c < cols; ++c) {
        worst = std::fmax(worst, std::fabs(want_dgamma[c] - dgamma[c]));
        worst = std::fmax(worst, std::fabs(want_dbeta[c] - dbeta[c]));
    }
    printf("layernorm %dx%d max error %.2e: %s\n", rows, cols, worst, worst < 1e-3 ? "PASS" : "FAIL");
    return worst < 1e-3 ? 0 : 1;
}
