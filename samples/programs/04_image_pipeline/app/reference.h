// The same operations by plain loops, on images whose rows follow each other.
#pragma once
#include <vector>

struct HostImage {
  int width, height;
  std::vector<unsigned char> pixels;
};

HostImage make_image(int width, int height, unsigned seed);
HostImage reference_blur(const HostImage &image, const int *taps, int radius);
HostImage reference_gradient(const HostImage &image, int shift);
void reference_equalise(HostImage &image);
