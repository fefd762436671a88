__global__ void steps(const unsigned *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    int count = 0;
    while (v > 1u) {
        if (count == 50) break;
        ++count;
        if (v % 2u == 0u) {
            v /= 2u;
            continue;
        }
        v = 3u * v + 1u;
    }
    switch (count & 3) {
        case 0:
            count += 10;
            break;
        case 1:
            count += 20;
        default:
            count = -count;
    }
    out[i] = count;
}

void run(const unsigned *in, int *out, int n) {
    steps<<<(n + 63) / 64, 64>>>(in, out, n);
}
