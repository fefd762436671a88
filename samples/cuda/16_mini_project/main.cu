// Blur, edge detection and thresholding of a synthetic image.
// Usage: filters [width height]
#include <cmath>

#include "kernels.cuh"

struct Threshold {
    float level;
    __host__ __device__ float operator()(float v) const { return v > level ? 1.0f : 0.0f; }
};

static int clamp_host(int i, int n) {
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

int main(int argc, char **argv) {
    const int width = argc > 1 ? std::atoi(argv[1]) : 83;
    const int height = argc > 2 ? std::atoi(argv[2]) : 59;
    const int radius = 2;
    const float taps[2 * radius + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

    std::vector<float> pixels(static_cast<size_t>(width) * height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            pixels[y * width + x] = ((x / 8 + y / 8) % 2 == 0 ? 1.0f : 0.0f) + 0.01f * (x % 5);
        }
    }

    Image in(width, height), scratch(width, height), blurred(width, height), edges(width, height),
        mask(width, height);
    in.upload(pixels);
    set_filter(taps, radius);
    blur(in, scratch, blurred, radius);
    gradient(blurred, edges);
    const Threshold threshold{0.8f};
    map_pixels<<<20, 128>>>(edges.data(), mask.data(), edges.count(), threshold);
    CUDA_CHECK(cudaGetLastError());

    std::vector<double> rows(pixels.size());
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            double sum = 0.0;
            for (int k = -radius; k <= radius; ++k) {
                sum += taps[k + radius] * pixels[y * width + clamp_host(x + k, width)];
            }
            rows[y * width + x] = sum;
        }
    }
    const std::vector<float> got = blurred.download();
    double worst = 0.0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            double sum = 0.0;
            for (int k = -radius; k <= radius; ++k) {
                sum += taps[k + radius] * rows[clamp_host(y + k, height) * width + x];
            }
            worst = std::fmax(worst, std::fabs(sum - got[y * width + x]));
        }
    }
    const std::vector<float> magnitude = edges.download(), flags = mask.download();
    int wrong = 0;
    for (size_t i = 0; i < flags.size(); ++i) {
        if (flags[i] != threshold(magnitude[i])) ++wrong;
    }
    const bool ok = worst < 1e-5 && wrong == 0;
    std::printf("filters %dx%d max error %.2e: %s\n", width, height, worst, ok ? "PASS" : "FAIL");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
