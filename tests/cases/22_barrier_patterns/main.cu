#include <cuda_runtime.h>

// Every fourth thread sums its neighbours; values from before the barrier are used after it.
__global__ void gather_quads(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int mine = in[blockIdx.x * 64 + t] * 2;
    s[t] = mine;
    __syncthreads();
    if (t % 4 == 0) {
        int sum = 0;
        for (int k = 0; k < 4; ++k) sum += s[t + k];
        out[blockIdx.x * 64 + t] = sum;
    } else {
        out[blockIdx.x * 64 + t] = mine;
    }
}

// Three quarters of the block store, all read.
__global__ void partial_store(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = -1;
    __syncthreads();
    if (t < 48) s[63 - t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t] + s[(t + 16) % 64];
}

// Shared atomics, then each thread reads its neighbour's counter and resets it for a second round.
__global__ void count_twice(const int *in, int *out) {
    __shared__ int bins[64];
    int t = threadIdx.x;
    int total = 0;
    for (int round = 0; round < 2; ++round) {
        bins[t] = 0;
        __syncthreads();
        atomicAdd(&bins[(unsigned)(in[blockIdx.x * 64 + t] + round) % 64u], 1);
        __syncthreads();
        total = total * 100 + bins[(t + 1) % 64];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = total;
}

// A barrier in a branch that the whole block takes or skips.
__global__ void uniform_branch(const int *in, int *out, int flag) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    if (flag > 0) {
        __syncthreads();
        out[blockIdx.x * 64 + t] = s[63 - t];
    } else {
        out[blockIdx.x * 64 + t] = -s[t];
    }
}

// A barrier that some threads skip on their way to another one: undefined in CUDA.
__global__ void divergent(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    if (s[t] > 0) {
        __syncthreads();
        s[t] = s[63 - t];
    }
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[(t + 1) % 64];
}

void run(const int *in, int *out, int n, int flag) {
    gather_quads<<<n / 64, 64>>>(in, out);
    partial_store<<<n / 64, 64>>>(in, out);
    count_twice<<<n / 64, 64>>>(in, out);
    uniform_branch<<<n / 64, 64>>>(in, out, flag);
    divergent<<<n / 64, 64>>>(in, out);
}
