// Constructs that have no TileLang equivalent, beside a kernel that migrates.
// Usage: refused [n]
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

// Inline PTX: the tool does not model what the instruction does.
__global__ void lane_ids(unsigned *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (i < n) out[i] = lane;
}

// A texture object: filtering and addressing modes live outside the kernel.
__global__ void sample(cudaTextureObject_t tex, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * tex1Dfetch<float>(tex, i);
}

// Device-side output.
__global__ void report_negative(const float *in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] < 0.0f) printf("negative value at %d\n", i);
}

// An ordinary kernel in the same file must still migrate.
__global__ void shift(const float *in, float *out, int n, float by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + by;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    const int threads = 128, blocks = (n + threads - 1) / threads;
    std::vector<float> in(n), out(n), sampled(n);
    std::vector<unsigned> lanes(n);
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i);

    float *d_in, *d_out;
    unsigned *d_lanes;
    CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMalloc(&d_lanes, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = d_in;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureDesc texture = {};
    texture.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex = 0;
    CHECK(cudaCreateTextureObject(&tex, &resource, &texture, nullptr));

    lane_ids<<<blocks, threads>>>(d_lanes, n);
    CHECK(cudaGetLastError());
    sample<<<blocks, threads>>>(tex, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sampled.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    report_negative<<<blocks, threads>>>(d_in, n);
    CHECK(cudaGetLastError());
    shift<<<blocks, threads>>>(d_in, d_out, n, 0.5f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(lanes.data(), d_lanes, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaDestroyTextureObject(tex));
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_lanes);

    int bad = 0;
    for (int i = 0; i < n; ++i) {
        if (lanes[i] != static_cast<unsigned>(i % threads % 32)) ++bad;
        if (sampled[i] != 2.0f * in[i]) ++bad;
        if (out[i] != in[i] + 0.5f) ++bad;
    }
    printf("refused n=%d: %s\n", n, bad == 0 ? "PASS" : "FAIL");
    return bad == 0 ? 0 : 1;
}
