#include <cuda_runtime.h>

__global__ void collatz(const unsigned *start, int *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = start[i] % 1000u + 1u;
    int count = 0;
    while (v != 1u) {
        if (v & 1u) {
            v = 3u * v + 1u;
        } else {
            v /= 2u;
        }
        if (++count >= 200) break;
    }
    steps[i] = count;
}

__global__ void lower_bound(const int *sorted, int size, const int *keys, int *where, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        int lo = 0, hi = size;
        while (lo < hi) {
            int mid = lo + (hi - lo) / 2;
            if (sorted[mid] < keys[i]) {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        where[i] = lo;
        i += blockDim.x * gridDim.x;
    }
}

__global__ void digits(const unsigned *in, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned v = in[i];
        unsigned char count = 0;
        do {
            ++count;
            v /= 10u;
            if (v == 5u) continue;
            if (v == 7u) break;
        } while (v > 0u);
        out[i] = count;
    }
}

void run(const unsigned *start, int *steps, const int *sorted, int size, const int *keys,
         unsigned char *out, int n) {
    collatz<<<(n + 95) / 96, 96>>>(start, steps, n);
    lower_bound<<<4, 96>>>(sorted, size, keys, steps, n);
    digits<<<(n + 95) / 96, 96>>>(start, out, n);
}
