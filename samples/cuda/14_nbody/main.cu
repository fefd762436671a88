// Gravitational n-body step: positions staged through a shared tile of float4 (x, y, z, mass).
// Usage: nbody [bodies steps]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t e = (call);                                                         \
        if (e != cudaSuccess) {                                                         \
            fprintf(stderr, "nbody: %s (line %d)\n", cudaGetErrorString(e), __LINE__);  \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define TILE 64
#define SOFTENING 0.01f

__host__ __device__ inline float3 interact(float4 target, float4 source, float3 acc) {
    float3 d;
    d.x = source.x - target.x;
    d.y = source.y - target.y;
    d.z = source.z - target.z;
    const float dist2 = d.x * d.x + d.y * d.y + d.z * d.z + SOFTENING;
    const float inv = 1.0f / sqrtf(dist2);
    const float s = source.w * inv * inv * inv;
    acc.x += d.x * s;
    acc.y += d.y * s;
    acc.z += d.z * s;
    return acc;
}

__global__ void accelerations(const float4 *bodies, float3 *acc, int n) {
    __shared__ float4 tile[TILE];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 mine = i < n ? bodies[i] : zero;
    float3 a = make_float3(0.0f, 0.0f, 0.0f);

    for (int start = 0; start < n; start += TILE) {
        const int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : zero;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            a = interact(mine, tile[k], a);
        }
        __syncthreads();
    }
    if (i < n) acc[i] = a;
}

__global__ void integrate(float4 *bodies, float3 *velocity, const float3 *acc, float dt, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = bodies[i];
    float3 v = velocity[i];
    v.x += acc[i].x * dt;
    v.y += acc[i].y * dt;
    v.z += acc[i].z * dt;
    p.x += v.x * dt;
    p.y += v.y * dt;
    p.z += v.z * dt;
    bodies[i] = p;
    velocity[i] = v;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 300;
    const int steps = argc > 2 ? atoi(argv[2]) : 3;
    const float dt = 0.01f;
    std::vector<float4> bodies(n);
    std::vector<float3> velocity(n, make_float3(0.0f, 0.0f, 0.0f)), acc(n);
    for (int i = 0; i < n; ++i) {
        const float t = 0.37f * i;
        bodies[i] = make_float4(std::sin(t), std::cos(1.3f * t), std::sin(2.1f * t + 1.0f),
                                1.0f / n * (1 + i % 3));
    }

    std::vector<float4> want(bodies);
    std::vector<float3> want_v(velocity);
    for (int s = 0; s < steps; ++s) {
        std::vector<float3> a(n, make_float3(0.0f, 0.0f, 0.0f));
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) a[i] = interact(want[i], want[j], a[i]);
        }
        for (int i = 0; i < n; ++i) {
            want_v[i].x += a[i].x * dt;
            want_v[i].y += a[i].y * dt;
            want_v[i].z += a[i].z * dt;
            want[i].x += want_v[i].x * dt;
            want[i].y += want_v[i].y * dt;
            want[i].z += want_v[i].z * dt;
        }
    }

    float4 *d_bodies;
    float3 *d_velocity, *d_acc;
    CHECK(cudaMalloc(&d_bodies, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_velocity, n * sizeof(float3)));
    CHECK(cudaMalloc(&d_acc, n * sizeof(float3)));
    CHECK(cudaMemcpy(d_bodies, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_velocity, velocity.data(), n * sizeof(float3), cudaMemcpyHostToDevice));
    const int blocks = (n + TILE - 1) / TILE;
    for (int s = 0; s < steps; ++s) {
        accelerations<<<blocks, TILE>>>(d_bodies, d_acc, n);
        CHECK(cudaGetLastError());
        integrate<<<blocks, TILE>>>(d_bodies, d_velocity, d_acc, dt, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(bodies.data(), d_bodies, n * sizeof(float4), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_bodies));
    CHECK(cudaFree(d_velocity));
    CHECK(cudaFree(d_acc));

    double worst = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = std::fmax(worst, std::fabs(bodies[i].x - want[i].x));
        worst = std::fmax(worst, std::fabs(bodies[i].y - want[i].y));
        worst = std::fmax(worst, std::fabs(bodies[i].z - want[i].z));
    }
    printf("nbody %d bodies, %d steps, max error %.2e: %s\n", n, steps, worst,
           worst < 1e-4 ? "PASS" : "FAIL");
    return worst < 1e-4 ? 0 : 1;
}
