// The same work in OpenMP C++, written for a CPU: rows or elements spread over OS threads, inner
// loops vectorised, sums in an order that suits a CPU.
#include <algorithm>
#include <cmath>

#include "problem.h"

namespace openmp {

static const float *floats(const Problem &p, int i) { return (const float *)p.in[i]; }

void saxpy(const Problem &p) {
    const float *x = floats(p, 0), *y = floats(p, 1), a = p.value;
    float *out = (float *)p.out[0];
    const int n = p.n[0];
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

void heat2d(const Problem &p) {
    const float *u = floats(p, 0), r = p.value;
    float *next = (float *)p.out[0];
    const int nx = p.n[0], ny = p.n[1];
#pragma omp parallel for
    for (int j = 0; j < ny; ++j) {
        const float *row = u + (long)j * nx, *above = row - nx, *below = row + nx;
        float *to = next + (long)j * nx;
        if (j == 0 || j == ny - 1) {
            std::copy(row, row + nx, to);
            continue;
        }
        to[0] = row[0];
#pragma omp simd
        for (int i = 1; i < nx - 1; ++i)
            to[i] = row[i] + r * (row[i - 1] + row[i + 1] + above[i] + below[i] - 4.0f * row[i]);
        to[nx - 1] = row[nx - 1];
    }
}

void stencil3d(const Problem &p) {
    const float *in = floats(p, 0), c = p.value;
    float *out = (float *)p.out[0];
    const int nx = p.n[0], ny = p.n[1], nz = p.n[2], plane = nx * ny;
#pragma omp parallel for collapse(2)
    for (int z = 1; z < nz - 1; ++z)
        for (int y = 1; y < ny - 1; ++y) {
            const float *row = in + (long)z * plane + y * nx;
            float *to = out + (long)z * plane + y * nx;
#pragma omp simd
            for (int x = 1; x < nx - 1; ++x)
                to[x] = row[x] + c * (row[x - 1] + row[x + 1] + row[x - nx] + row[x + nx] + row[x - plane] +
                                      row[x + plane] - 6.0f * row[x]);
        }
}

// Rows of B in cache, a row of C accumulated at a time.
static void matmul(const Problem &p) {
    const float *a = floats(p, 0), *b = floats(p, 1);
    float *c = (float *)p.out[0];
    const int m = p.n[0], n = p.n[1], k = p.n[2];
#pragma omp parallel for
    for (int row = 0; row < m; ++row) {
        float *to = c + (long)row * n;
        std::fill(to, to + n, 0.0f);
        for (int i = 0; i < k; ++i) {
            const float factor = a[(long)row * k + i];
            const float *from = b + (long)i * n;
#pragma omp simd
            for (int col = 0; col < n; ++col) to[col] += factor * from[col];
        }
    }
}

void matmul_naive(const Problem &p) { matmul(p); }
void matmul_tiled(const Problem &p) { matmul(p); }

void reduce_blocks(const Problem &p) {
    const float *in = floats(p, 0);
    float *out = (float *)p.out[0];
    const int n = p.n[0], each = 512, blocks = (n + each - 1) / each;
#pragma omp parallel for
    for (int b = 0; b < blocks; ++b) {
        float sum = 0.0f;
        const int end = std::min(n, (b + 1) * each);
#pragma omp simd reduction(+ : sum)
        for (int i = b * each; i < end; ++i) sum += in[i];
        out[b] = sum;
    }
}

void scan_blocks(const Problem &p) {
    const int *in = (const int *)p.in[0];
    int *out = (int *)p.out[0], *sums = (int *)p.out[1];
    const int n = p.n[0], each = 2048, blocks = (n + each - 1) / each;
#pragma omp parallel for
    for (int b = 0; b < blocks; ++b) {
        int sum = 0;
        const int end = std::min(n, (b + 1) * each);
        for (int i = b * each; i < end; ++i) out[i] = sum += in[i];
        sums[b] = sum;
    }
}

void transpose(const Problem &p) {
    const float *in = floats(p, 0);
    float *out = (float *)p.out[0];
    const int width = p.n[0], height = p.n[1], side = 32;
#pragma omp parallel for collapse(2)
    for (int y0 = 0; y0 < height; y0 += side)
        for (int x0 = 0; x0 < width; x0 += side)
            for (int x = x0; x < std::min(x0 + side, width); ++x)
                for (int y = y0; y < std::min(y0 + side, height); ++y)
                    out[(long)x * height + y] = in[(long)y * width + x];
}

void histogram(const Problem &p) {
    const unsigned char *data = (const unsigned char *)p.in[0];
    unsigned *bins = (unsigned *)p.out[0];
    const int n = p.n[0];
#pragma omp parallel
    {
        unsigned local[256] = {};
#pragma omp for nowait
        for (int i = 0; i < n; ++i) ++local[data[i]];
        for (int b = 0; b < 256; ++b) {
#pragma omp atomic
            bins[b] += local[b];
        }
    }
}

void nbody(const Problem &p) {
    const float *bodies = floats(p, 0), softening = p.value;
    float *acceleration = (float *)p.out[0];
    const int n = p.n[0];
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
        for (int j = 0; j < n; ++j) {
            const float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
            const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
            const float s = bodies[4 * j + 3] * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        acceleration[4 * i] = ax;
        acceleration[4 * i + 1] = ay;
        acceleration[4 * i + 2] = az;
        acceleration[4 * i + 3] = 0.0f;
    }
}

void softmax_rows(const Problem &p) {
    const int rows = p.n[0], cols = p.n[1];
#pragma omp parallel for
    for (int row = 0; row < rows; ++row) {
        const float *x = floats(p, 0) + (long)row * cols;
        float *y = (float *)p.out[0] + (long)row * cols;
        float peak = -INFINITY, total = 0.0f;
#pragma omp simd reduction(max : peak)
        for (int c = 0; c < cols; ++c) peak = x[c] > peak ? x[c] : peak;
        for (int c = 0; c < cols; ++c) {
            y[c] = std::exp(x[c] - peak);
            total += y[c];
        }
#pragma omp simd
        for (int c = 0; c < cols; ++c) y[c] /= total;
    }
}

void layernorm(const Problem &p) {
    const float *gamma = floats(p, 1), *beta = floats(p, 2), eps = p.value;
    const int rows = p.n[0], cols = p.n[1];
#pragma omp parallel for
    for (int row = 0; row < rows; ++row) {
        const float *x = floats(p, 0) + (long)row * cols;
        float *y = (float *)p.out[0] + (long)row * cols;
        float s = 0.0f, q = 0.0f;
#pragma omp simd reduction(+ : s, q)
        for (int c = 0; c < cols; ++c) {
            s += x[c];
            q += x[c] * x[c];
        }
        const float mean = s / cols, scale = 1.0f / std::sqrt(q / cols - mean * mean + eps);
#pragma omp simd
        for (int c = 0; c < cols; ++c) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
    }
}

void blur(const Problem &p) {
    const float *in = floats(p, 0), *weights = floats(p, 1);
    float *out = (float *)p.out[0];
    const int width = p.n[0], height = p.n[1];
#pragma omp parallel for
    for (int y = 0; y < height; ++y) {
        float *to = out + (long)y * width;
        const float *rows[5];
        for (int d = 0; d < 5; ++d) rows[d] = in + (long)std::min(std::max(y + d - 2, 0), height - 1) * width;
        auto edge = [&](int x) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; ++dy)
                for (int dx = 0; dx < 5; ++dx)
                    sum += weights[5 * dy + dx] * rows[dy][std::min(std::max(x + dx - 2, 0), width - 1)];
            to[x] = sum;
        };
        for (int x = 0; x < std::min(2, width); ++x) edge(x);
#pragma omp simd
        for (int x = 2; x < width - 2; ++x) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; ++dy)
                for (int dx = 0; dx < 5; ++dx) sum += weights[5 * dy + dx] * rows[dy][x + dx - 2];
            to[x] = sum;
        }
        for (int x = std::max(2, width - 2); x < width; ++x) edge(x);
    }
}

void spmv_csr(const Problem &p) {
    const int *starts = (const int *)p.in[0], *columns = (const int *)p.in[1];
    const float *values = floats(p, 2), *x = floats(p, 3);
    float *y = (float *)p.out[0];
    const int rows = p.n[0];
#pragma omp parallel for
    for (int row = 0; row < rows; ++row) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}

void black_scholes(const Problem &p) {
    const float *spot = floats(p, 0), *strike = floats(p, 1), *years = floats(p, 2), rate = p.value;
    float *call = (float *)p.out[0], *put = (float *)p.out[1];
    const int n = p.n[0];
    const float volatility = 0.3f;
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i) {
        const float s = spot[i], k = strike[i], t = years[i];
        const float root = volatility * std::sqrt(t);
        const float d1 = (std::log(s / k) + (rate + 0.5f * volatility * volatility) * t) / root;
        const float n1 = 0.5f * std::erfc(-d1 * 0.70710678f), n2 = 0.5f * std::erfc(-(d1 - root) * 0.70710678f);
        const float discounted = k * std::exp(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

void life(const Problem &p) {
    const unsigned char *now = (const unsigned char *)p.in[0];
    unsigned char *next = (unsigned char *)p.out[0];
    const int width = p.n[0], height = p.n[1];
#pragma omp parallel for
    for (int y = 1; y < height - 1; ++y) {
        const unsigned char *row = now + (long)y * width, *above = row - width, *below = row + width;
        unsigned char *to = next + (long)y * width;
#pragma omp simd
        for (int x = 1; x < width - 1; ++x) {
            const int alive = above[x - 1] + above[x] + above[x + 1] + row[x - 1] + row[x] + row[x + 1] + below[x - 1] +
                              below[x] + below[x + 1];
            to[x] = alive == 3 || (alive == 4 && row[x] == 1);
        }
    }
}

}  // namespace openmp
