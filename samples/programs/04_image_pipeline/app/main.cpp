// Blur, gradient and equalisation of several images on two streams, then a projection of their stack.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "equalise.h"
#include "filters.h"
#include "reference.h"

namespace {

constexpr int kWidth = 150, kHeight = 100, kImages = 4;
constexpr int kTaps[2 * kRadius + 1] = {6, 28, 56, 76, 56, 28, 6};

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

template <class T> Image<T> allocate(int width, int height) {
  void *memory = nullptr;
  size_t pitch = 0;
  require(cudaMallocPitch(&memory, &pitch, width * sizeof(T), height), "cudaMallocPitch");
  return Image<T>{static_cast<T *>(memory), pitch, width, height};
}

int differing(const HostImage &a, const HostImage &b) {
  int count = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) count += a.pixels[i] != b.pixels[i];
  return count;
}

}  // namespace

int main() {
  require(set_taps(kTaps), "set_taps");
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams) require(cudaStreamCreate(&stream), "cudaStreamCreate");

  const cudaExtent extent{kWidth, kHeight, kImages};
  cudaPitchedPtr volume;
  require(cudaMalloc3D(&volume, extent), "cudaMalloc3D");
  require(cudaMemset3D(volume, 0x5a, extent), "cudaMemset3D");

  int wrong = 0;
  std::vector<HostImage> expected, results;
  for (int i = 0; i < kImages; ++i) {
    expected.push_back(make_image(kWidth, kHeight, 77u + i));
    results.push_back(expected.back());
  }
  for (int i = 0; i < kImages; ++i) {
    cudaStream_t stream = streams[i % 2];
    HostImage &image = results[i];
    auto source = allocate<unsigned char>(kWidth, kHeight), smooth = allocate<unsigned char>(kWidth, kHeight);
    auto scratch = allocate<int>(kWidth, kHeight);
    void *histogram, *levels;
    require(cudaMalloc(&histogram, 256 * sizeof(unsigned)), "cudaMalloc");
    require(cudaMalloc(&levels, 256), "cudaMalloc");
    require(cudaMemcpy2DAsync(source.data, source.pitch, image.pixels.data(), kWidth, kWidth, kHeight,
                              cudaMemcpyHostToDevice, stream), "upload");
    require(blur(source, scratch, smooth, stream), "blur");
    require(gradient(smooth, scratch, stream), "gradient");
    require(clip(scratch, source, 1, stream), "clip");
    require(equalise(source, Workspace{static_cast<unsigned *>(histogram), static_cast<unsigned char *>(levels)}, stream),
            "equalise");
    require(cudaMemcpy2DAsync(image.pixels.data(), kWidth, source.data, source.pitch, kWidth, kHeight,
                              cudaMemcpyDeviceToHost, stream), "download");
    // The slice of the volume that this image becomes.
    cudaMemcpy3DParms copy{};
    copy.srcPtr = cudaPitchedPtr{source.data, source.pitch, kWidth, kHeight};
    copy.dstPtr = volume;
    copy.dstPos = cudaPos{0, 0, size_t(i)};
    copy.extent = cudaExtent{kWidth, kHeight, 1};
    copy.kind = cudaMemcpyDeviceToDevice;
    require(cudaMemcpy3DAsync(&copy, stream), "slice");
    require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    for (void *memory : {(void *)source.data, (void *)smooth.data, (void *)scratch.data, histogram, levels})
      require(cudaFree(memory), "cudaFree");
    expected[i] = reference_gradient(reference_blur(expected[i], kTaps, kRadius), 1);
    reference_equalise(expected[i]);
    wrong += differing(image, expected[i]);
  }

  auto flat = allocate<unsigned char>(kWidth, kHeight);
  require(cudaMemset2D(flat.data, flat.pitch, 0xff, kWidth, kHeight), "cudaMemset2D");
  require(project(volume, kImages, flat, streams[0]), "project");
  HostImage projected = results[0], largest = expected[0];
  require(cudaStreamSynchronize(streams[0]), "cudaStreamSynchronize");
  require(cudaMemcpy2D(projected.pixels.data(), kWidth, flat.data, flat.pitch, kWidth, kHeight, cudaMemcpyDeviceToHost),
          "download");
  for (const HostImage &image : expected)
    for (size_t p = 0; p < largest.pixels.size(); ++p)
      if (image.pixels[p] > largest.pixels[p]) largest.pixels[p] = image.pixels[p];
  wrong += differing(projected, largest);

  // A box out of the middle of the volume comes back whole.
  const int box_width = 40, box_height = 20, box_depth = 2;
  std::vector<unsigned char> box(size_t(box_width) * box_height * box_depth);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = volume;
  copy.srcPos = cudaPos{30, 50, 1};
  copy.dstPtr = cudaPitchedPtr{box.data(), size_t(box_width), size_t(box_width), size_t(box_height)};
  copy.extent = cudaExtent{size_t(box_width), size_t(box_height), size_t(box_depth)};
  copy.kind = cudaMemcpyDeviceToHost;
  require(cudaMemcpy3D(&copy), "box");
  for (int z = 0; z < box_depth; ++z)
    for (int y = 0; y < box_height; ++y)
      for (int x = 0; x < box_width; ++x)
        wrong += box[(size_t(z) * box_height + y) * box_width + x] !=
                 expected[1 + z].pixels[size_t(50 + y) * kWidth + 30 + x];

  unsigned checksum = 2166136261u;
  for (unsigned char value : projected.pixels) checksum = (checksum ^ value) * 16777619u;
  require(cudaFree(flat.data), "cudaFree");
  require(cudaFree(volume.ptr), "cudaFree");
  for (cudaStream_t stream : streams) require(cudaStreamDestroy(stream), "cudaStreamDestroy");
  std::printf("image_pipeline: %d images of %dx%d, checksum %08x, %d wrong: %s\n", kImages, kWidth, kHeight, checksum,
              wrong, wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
