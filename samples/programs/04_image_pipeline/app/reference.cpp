#include "reference.h"

#include <algorithm>
#include <cstdlib>

static int at(const HostImage &image, int x, int y) {
  x = std::clamp(x, 0, image.width - 1);
  y = std::clamp(y, 0, image.height - 1);
  return image.pixels[size_t(y) * image.width + x];
}

HostImage make_image(int width, int height, unsigned seed) {
  HostImage image{width, height, std::vector<unsigned char>(size_t(width) * height)};
  unsigned state = seed;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      state = state * 1103515245u + 12345u;
      int disc = (x - width / 2) * (x - width / 2) + (y - height / 3) * (y - height / 3) < 900 ? 120 : 0;
      image.pixels[size_t(y) * width + x] = static_cast<unsigned char>(disc + (x * 60) / width + (state >> 16) % 32);
    }
  return image;
}

HostImage reference_blur(const HostImage &image, const int *taps, int radius) {
  std::vector<int> rows(image.pixels.size());
  HostImage result = image;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int sum = 0;
      for (int k = -radius; k <= radius; ++k) sum += taps[k + radius] * at(image, x + k, y);
      rows[size_t(y) * image.width + x] = sum;
    }
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int sum = 0;
      for (int k = -radius; k <= radius; ++k)
        sum += taps[k + radius] * rows[size_t(std::clamp(y + k, 0, image.height - 1)) * image.width + x];
      result.pixels[size_t(y) * image.width + x] = static_cast<unsigned char>((sum + 32768) >> 16);
    }
  return result;
}

HostImage reference_gradient(const HostImage &image, int shift) {
  HostImage result = image;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int gx = 0, gy = 0;
      for (int d = -1; d <= 1; ++d) {
        int weight = d == 0 ? 2 : 1;
        gx += weight * (at(image, x + 1, y + d) - at(image, x - 1, y + d));
        gy += weight * (at(image, x + d, y + 1) - at(image, x + d, y - 1));
      }
      int value = (std::abs(gx) + std::abs(gy)) >> shift;
      result.pixels[size_t(y) * image.width + x] = static_cast<unsigned char>(std::min(value, 255));
    }
  return result;
}

void reference_equalise(HostImage &image) {
  unsigned histogram[256] = {};
  for (unsigned char value : image.pixels) ++histogram[value];
  unsigned char levels[256];
  unsigned long long sum = 0;
  for (int value = 0; value < 256; ++value) {
    sum += histogram[value];
    levels[value] = static_cast<unsigned char>(sum * 255 / image.pixels.size());
  }
  for (unsigned char &value : image.pixels) value = levels[value];
}
