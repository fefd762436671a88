__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void run(int n, const float *x, float *y) {
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);
}
