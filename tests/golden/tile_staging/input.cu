__global__ void reverse_tiles(const int *in, int *out, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    int mine = i < n ? in[i] : 0;
    tile[threadIdx.x] = mine;
    __syncthreads();
    int other = tile[63 - threadIdx.x];
    __syncthreads();
    if (i < n) out[i] = other - mine;
}

void run(const int *in, int *out, int n) {
    reverse_tiles<<<(n + 63) / 64, 64>>>(in, out, n);
}
