#include <cuda_runtime.h>

texture<float, 2> image;

__global__ void resample(float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D(image, x + 0.5f, y + 0.5f);
}

__global__ void brighten(float *out, int count, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] += by;
}

void run(float *out, cudaArray_t array, int width, int height) {
    cudaBindTextureToArray(image, array);
    resample<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, width, height);
    brighten<<<(width * height + 127) / 128, 128>>>(out, width * height, 0.5f);
    cudaUnbindTexture(image);
}
