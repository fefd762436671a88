// A spectrum classifier: windows of a signal, transformed by a radix-2 FFT kernel template, feed a small
// network of dense layers. Sizes are template arguments, kernels go through launchers that take them as such.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fft.cuh"
#include "network.cuh"

namespace {

constexpr int kPoints = 128, kWindows = 24, kHidden = 32, kClasses = 4;

void require(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

std::vector<float> make_signal() {
  std::vector<float> signal(kPoints * kWindows);
  for (int w = 0; w < kWindows; ++w)
    for (int i = 0; i < kPoints; ++i)
      signal[w * kPoints + i] = std::sin(6.2831853f * (3 + 7 * (w % kClasses)) * i / kPoints) +
                                0.3f * std::cos(6.2831853f * (w + 1) * i / kPoints);
  return signal;
}

std::vector<float> make_weights(int rows, int columns, unsigned seed) {
  std::vector<float> weights(size_t(rows) * columns);
  for (float &weight : weights) {
    seed = seed * 1664525u + 1013904223u;
    weight = (int(seed >> 16) - 32768) / 32768.0f / std::sqrt(float(columns));
  }
  return weights;
}

template <class T> T *upload(const std::vector<T> &values) {
  T *memory;
  require(cudaMalloc(&memory, values.size() * sizeof(T)), "cudaMalloc");
  require(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return memory;
}

std::vector<double> dense(const std::vector<double> &input, const std::vector<float> &weights,
                          const std::vector<float> &bias, bool relu) {
  std::vector<double> output(bias.size());
  const size_t columns = input.size();
  for (size_t row = 0; row < output.size(); ++row) {
    double sum = bias[row];
    for (size_t c = 0; c < columns; ++c) sum += double(weights[row * columns + c]) * input[c];
    output[row] = relu && sum < 0 ? 0 : sum;
  }
  return output;
}

}  // namespace

int main() {
  const std::vector<float> signal = make_signal();
  const int features = kPoints / 2;
  const std::vector<float> first = make_weights(kHidden, features, 5), second = make_weights(kClasses, kHidden, 6);
  const std::vector<float> first_bias = make_weights(kHidden, 1, 7), second_bias = make_weights(kClasses, 1, 8);

  float *device_signal = upload(signal), *device_first = upload(first), *device_second = upload(second);
  float *device_first_bias = upload(first_bias), *device_second_bias = upload(second_bias);
  float2 *spectrum;
  float *power, *hidden, *scores;
  int *winners;
  require(cudaMalloc(&spectrum, signal.size() * sizeof(float2)), "cudaMalloc");
  require(cudaMalloc(&power, size_t(kWindows) * features * sizeof(float)), "cudaMalloc");
  require(cudaMalloc(&hidden, size_t(kWindows) * kHidden * sizeof(float)), "cudaMalloc");
  require(cudaMalloc(&scores, size_t(kWindows) * kClasses * sizeof(float)), "cudaMalloc");
  require(cudaMalloc(&winners, kWindows * sizeof(int)), "cudaMalloc");

  using Transform = Fft<kPoints>;
  Transform::run(device_signal, spectrum, kWindows, nullptr);
  power_spectrum<<<(kWindows * features + 127) / 128, 128>>>(spectrum, power, kPoints, features, kWindows);
  dense_layer<kHidden, Relu>(power, device_first, device_first_bias, hidden, features, kWindows, nullptr);
  dense_layer<kClasses, Identity>(hidden, device_second, device_second_bias, scores, kHidden, kWindows, nullptr);
  softmax_rows<kClasses><<<(kWindows + 31) / 32, 32>>>(scores, winners, kWindows);
  require(cudaGetLastError(), "launch");
  std::vector<float2> transformed(signal.size());
  std::vector<float> probabilities(kWindows * kClasses);
  std::vector<int> labels(kWindows);
  require(cudaMemcpy(transformed.data(), spectrum, transformed.size() * sizeof(float2), cudaMemcpyDeviceToHost), "copy");
  require(cudaMemcpy(probabilities.data(), scores, probabilities.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy");
  require(cudaMemcpy(labels.data(), winners, kWindows * sizeof(int), cudaMemcpyDeviceToHost), "copy");

  int wrong = 0, checked = 0;
  for (int w = 0; w < kWindows; ++w) {
    std::vector<double> input(features);
    for (int k = 0; k < kPoints; ++k) {
      std::complex<double> sum = 0.0;
      for (int i = 0; i < kPoints; ++i)
        sum += double(signal[w * kPoints + i]) * std::polar(1.0, -2.0 * M_PI * ((k * i) % kPoints) / kPoints);
      const float2 got = transformed[w * kPoints + k];
      wrong += !(std::abs(sum - std::complex<double>(got.x, got.y)) <= 2e-3);
      if (k < features) input[k] = std::log1p(std::norm(sum) / kPoints);
    }
    const auto output = dense(dense(input, first, first_bias, true), second, second_bias, false);
    double largest = output[0], total = 0.0, runner_up = -1e30;
    int label = 0;
    for (int c = 1; c < kClasses; ++c)
      if (output[c] > largest) largest = output[c], label = c;
    for (int c = 0; c < kClasses; ++c) {
      total += std::exp(output[c] - largest);
      if (c != label && output[c] > runner_up) runner_up = output[c];
    }
    for (int c = 0; c < kClasses; ++c)
      wrong += !(std::fabs(probabilities[w * kClasses + c] - std::exp(output[c] - largest) / total) <= 1e-3);
    if (largest - runner_up > 1e-2) {
      wrong += labels[w] != label;
      ++checked;
    }
  }
  wrong += checked < kWindows / 2;

  // The inverse transform gives the signal back.
  Transform::invert(spectrum, device_signal, kWindows, nullptr);
  std::vector<float> back(signal.size());
  require(cudaMemcpy(back.data(), device_signal, back.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy");
  for (size_t i = 0; i < back.size(); ++i) wrong += !(std::fabs(back[i] - signal[i]) <= 1e-4f);

  for (void *memory : {(void *)device_signal, (void *)device_first, (void *)device_second, (void *)device_first_bias,
                       (void *)device_second_bias, (void *)spectrum, (void *)power, (void *)hidden, (void *)scores,
                       (void *)winners})
    require(cudaFree(memory), "cudaFree");
  std::printf("spectrum: %d windows of %d points, %d wrong: %s\n", kWindows, kPoints, wrong,
              wrong ? "FAILED" : "passed");
  return wrong ? 1 : 0;
}
