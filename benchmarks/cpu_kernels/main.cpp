// Times kept, migrated and OpenMP variants of each kernel, in turn, and compares what they compute.
// Prints one JSON object a kernel: milliseconds of each run, and the differences.
#include <cuda_runtime_api.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

enum Type { kFloat, kInt };
struct Output {
    size_t count;
    Type type;
};

struct Case {
    const char *name;
    void (*kept)(const Problem &), (*migrated)(const Problem &), (*openmp)(const Problem &);
    Problem problem;
    std::vector<Output> outputs;
    size_t bytes;  // of one output element
    double tolerance;  // of OpenMP against kept, relative to the largest value
};

unsigned state;
unsigned next_random() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}
float uniform() { return (float)next_random() / (float)(1 << 24); }

void *allocate(size_t bytes) {
    void *got = nullptr;
    if (cudaMallocManaged(&got, bytes, cudaMemAttachGlobal) != cudaSuccess) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return got;
}

float *random_floats(size_t count, float low = 0.0f, float high = 1.0f) {
    float *got = (float *)allocate(count * sizeof(float));
    for (size_t i = 0; i < count; ++i) got[i] = low + (high - low) * uniform();
    return got;
}

unsigned char *random_bytes(size_t count, unsigned below) {
    unsigned char *got = (unsigned char *)allocate(count);
    for (size_t i = 0; i < count; ++i) got[i] = (unsigned char)(next_random() % below);
    return got;
}

int *random_ints(size_t count, unsigned below) {
    int *got = (int *)allocate(count * sizeof(int));
    for (size_t i = 0; i < count; ++i) got[i] = (int)(next_random() % below);
    return got;
}

// Every size is one that no block or tile divides.
Problem prepare(const std::string &name, std::vector<Output> &outputs, size_t *bytes, double *tolerance, int scale) {
    Problem p = {};
    *bytes = sizeof(float);
    *tolerance = 0.0;
    state = 12345;
    auto result = [&](size_t count, Type type = kFloat) { outputs.push_back({count, type}); };
    if (name == "saxpy") {
        const int n = 8000003 / scale;
        p.in[0] = random_floats(n), p.in[1] = random_floats(n), p.value = 1.5f, p.n[0] = n;
        result(n);
    } else if (name == "heat2d") {
        p.n[0] = 3001 / scale, p.n[1] = 2999, p.value = 0.2f;
        p.in[0] = random_floats((size_t)p.n[0] * p.n[1]);
        result((size_t)p.n[0] * p.n[1]);
    } else if (name == "stencil3d") {
        p.n[0] = 203, p.n[1] = 201, p.n[2] = 199 / scale + 2, p.value = 0.1f;
        const size_t all = (size_t)p.n[0] * p.n[1] * p.n[2];
        p.in[0] = random_floats(all);
        result(all);
    } else if (name == "matmul_naive" || name == "matmul_tiled") {
        p.n[0] = 509 / scale, p.n[1] = 515, p.n[2] = 500;
        p.in[0] = random_floats((size_t)p.n[0] * p.n[2], -1.0f), p.in[1] = random_floats((size_t)p.n[2] * p.n[1], -1.0f);
        result((size_t)p.n[0] * p.n[1]);
    } else if (name == "reduce_blocks") {
        p.n[0] = 16000003 / scale, p.in[0] = random_floats(p.n[0]);
        result((p.n[0] + 511) / 512);
        *tolerance = 1e-5;
    } else if (name == "scan_blocks") {
        p.n[0] = 8000003 / scale, p.in[0] = random_ints(p.n[0], 1000);
        result(p.n[0], kInt), result((p.n[0] + 2047) / 2048, kInt);
    } else if (name == "transpose") {
        p.n[0] = 3001, p.n[1] = 2503 / scale, p.in[0] = random_floats((size_t)p.n[0] * p.n[1]);
        result((size_t)p.n[0] * p.n[1]);
    } else if (name == "histogram") {
        p.n[0] = 32000003 / scale, p.in[0] = random_bytes(p.n[0], 256);
        result(256, kInt);
    } else if (name == "nbody") {
        p.n[0] = 5003 / scale, p.value = 0.01f, p.in[0] = random_floats(4 * (size_t)p.n[0]);
        result(4 * (size_t)p.n[0]);
        *tolerance = 1e-4;
    } else if (name == "softmax_rows" || name == "layernorm") {
        p.n[0] = 3001 / scale, p.n[1] = 1999, p.value = 1e-5f;
        p.in[0] = random_floats((size_t)p.n[0] * p.n[1], -4.0f, 4.0f);
        p.in[1] = random_floats(p.n[1]), p.in[2] = random_floats(p.n[1]);
        result((size_t)p.n[0] * p.n[1]);
        *tolerance = 1e-4;
    } else if (name == "blur") {
        p.n[0] = 1999, p.n[1] = 1501 / scale, p.in[0] = random_floats((size_t)p.n[0] * p.n[1]);
        p.in[1] = random_floats(25);
        result((size_t)p.n[0] * p.n[1]);
    } else if (name == "spmv_csr") {
        const int rows = 200003 / scale;
        std::vector<int> starts(1, 0);
        for (int i = 0; i < rows; ++i) starts.push_back(starts.back() + 8 + (int)(next_random() % 48));
        p.n[0] = rows;
        int *place = (int *)allocate(starts.size() * sizeof(int));
        std::copy(starts.begin(), starts.end(), place);
        p.in[0] = place, p.in[1] = random_ints(starts.back(), rows), p.in[2] = random_floats(starts.back());
        p.in[3] = random_floats(rows);
        result(rows);
        *tolerance = 1e-5;
    } else if (name == "black_scholes") {
        p.n[0] = 1000003 / scale, p.value = 0.02f;
        p.in[0] = random_floats(p.n[0], 5.0f, 30.0f), p.in[1] = random_floats(p.n[0], 1.0f, 100.0f);
        p.in[2] = random_floats(p.n[0], 0.25f, 10.0f);
        result(p.n[0]), result(p.n[0]);
    } else if (name == "life") {
        p.n[0] = 4001, p.n[1] = 4003 / scale, p.in[0] = random_bytes((size_t)p.n[0] * p.n[1], 2);
        result((size_t)p.n[0] * p.n[1], kInt);
        *bytes = 1;
    }
    for (size_t i = 0; i < outputs.size(); ++i) p.out[i] = allocate(outputs[i].count * *bytes);
    return p;
}

// Milliseconds; with clock "cpu" of all threads of the process, which other processes do not disturb.
bool cpu_clock;
double now() {
    timespec t;
    clock_gettime(cpu_clock ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

double timed(const Case &c, void (*function)(const Problem &)) {
    for (size_t i = 0; i < c.outputs.size(); ++i) memset(c.problem.out[i], 0, c.outputs[i].count * c.bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // OpenMP's threads wait actively for a while
    const double start = now();
    function(c.problem);
    cudaDeviceSynchronize();
    return now() - start;
}

std::vector<char> results(const Case &c) {
    std::vector<char> all;
    for (size_t i = 0; i < c.outputs.size(); ++i) {
        const char *from = (const char *)c.problem.out[i];
        all.insert(all.end(), from, from + c.outputs[i].count * c.bytes);
    }
    return all;
}

// Largest difference over the largest value; 0: the same bits; 2: a NaN on one side.
double difference(const Case &c, const std::vector<char> &a, const std::vector<char> &b) {
    if (a == b) return 0.0;
    double most = 1e-300, worst = 0.0;
    for (size_t at = 0; at < a.size(); at += c.bytes) {
        double x = 0, y = 0;
        if (c.outputs[0].type == kFloat) {
            float u, v;
            memcpy(&u, &a[at], sizeof u), memcpy(&v, &b[at], sizeof v);
            x = u, y = v;
        } else {
            x = 0, y = a[at] != b[at] ? 1 : 0;
        }
        if (std::isnan(x) != std::isnan(y)) return 2.0;
        if (std::isnan(x)) continue;
        most = std::max(most, std::fabs(x));
        worst = std::max(worst, std::fabs(x - y));
    }
    return c.outputs[0].type == kFloat ? worst / most : 2.0;
}

void print(const char *key, const std::vector<double> &values) {
    printf("\"%s\": [", key);
    for (size_t i = 0; i < values.size(); ++i) printf("%s%.4f", i ? ", " : "", values[i]);
    printf("], ");
}

}  // namespace

// Arguments: clock (wall, cpu), rounds, rounds of kept kernels, divisor of the sizes, kernels (default: all).
int main(int argc, char **argv) {
    cpu_clock = argc > 1 && strcmp(argv[1], "cpu") == 0;
    const int rounds = argc > 2 ? atoi(argv[2]) : 11, kept_rounds = argc > 3 ? atoi(argv[3]) : 3;
    const int scale = argc > 4 ? atoi(argv[4]) : 1;
    std::vector<Case> cases;
#define ENTRY(name) cases.push_back({#name, kept::name, migrated::name, openmp::name, {}, {}, 4, 0.0});
    FOR_EACH_KERNEL(ENTRY)
    int status = 0;
    for (Case &c : cases) {
        if (argc > 5 && std::none_of(argv + 5, argv + argc, [&](const char *a) { return strcmp(a, c.name) == 0; })) continue;
        c.problem = prepare(c.name, c.outputs, &c.bytes, &c.tolerance, scale);
        timed(c, c.kept);
        const std::vector<char> expected = results(c);
        timed(c, c.migrated);
        const double migrated_difference = difference(c, expected, results(c));
        timed(c, c.openmp);
        const double openmp_difference = difference(c, expected, results(c));
        std::vector<double> kept, migrated, openmp;
        for (int i = 0; i < rounds; ++i) {
            openmp.push_back(timed(c, c.openmp));
            migrated.push_back(timed(c, c.migrated));
            if (i < kept_rounds) kept.push_back(timed(c, c.kept));
        }
        printf("{\"kernel\": \"%s\", ", c.name);
        print("kept", kept), print("migrated", migrated), print("openmp", openmp);
        printf("\"migrated_difference\": %g, \"openmp_difference\": %g, \"openmp_tolerance\": %g}\n", migrated_difference,
               openmp_difference, c.tolerance);
        fflush(stdout);
        if (cudaGetLastError() != cudaSuccess) status = 1;
        for (void *p : c.problem.in) cudaFree(p);
        for (void *p : c.problem.out) cudaFree(p);
    }
    return status;
}
