// Images in pitched device memory.
#pragma once
#include <cstddef>

template <class T> struct Image {
  T *data;
  size_t pitch;  // bytes from a row to the next
  int width, height;
};
