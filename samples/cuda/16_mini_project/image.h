// A single-channel float image in device memory. Plain C++: no device code here.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                \
    do {                                                                                \
        cudaError_t status_ = (call);                                                   \
        if (status_ != cudaSuccess) {                                                   \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                     \
                         cudaGetErrorString(status_));                                  \
            std::exit(EXIT_FAILURE);                                                    \
        }                                                                               \
    } while (0)

class Image {
  public:
    Image(int width, int height) : width_(width), height_(height) {
        CUDA_CHECK(cudaMalloc(&pixels_, bytes()));
    }
    Image(const Image &) = delete;
    Image &operator=(const Image &) = delete;
    ~Image() { cudaFree(pixels_); }

    int width() const { return width_; }
    int height() const { return height_; }
    int count() const { return width_ * height_; }
    std::size_t bytes() const { return sizeof(float) * static_cast<std::size_t>(count()); }
    float *data() { return pixels_; }
    const float *data() const { return pixels_; }

    void upload(const std::vector<float> &host) {
        CUDA_CHECK(cudaMemcpy(pixels_, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    std::vector<float> download() const {
        std::vector<float> host(static_cast<std::size_t>(count()));
        CUDA_CHECK(cudaMemcpy(host.data(), pixels_, bytes(), cudaMemcpyDeviceToHost));
        return host;
    }

  private:
    int width_;
    int height_;
    float *pixels_ = nullptr;
};
