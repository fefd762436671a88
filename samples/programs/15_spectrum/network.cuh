// Dense layers over a batch of rows, and the classes that win.
#pragma once
#include <cuda_runtime.h>

struct Relu {
  __device__ float operator()(float x) const { return x > 0.0f ? x : 0.0f; }
};

struct Identity {
  __device__ float operator()(float x) const { return x; }
};

static __global__ void power_spectrum(const float2 *spectrum, float *power, int points, int features, int windows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= features * windows) return;
  float2 value = spectrum[(i / features) * points + i % features];
  power[i] = log1pf((value.x * value.x + value.y * value.y) / points);
}

// A block a row of the batch, a thread an output; the input row is staged in dynamic shared memory.
template <int Outputs, class Activation>
__global__ void dense_kernel(const float *input, const float *weights, const float *bias, float *output, int inputs) {
  extern __shared__ float row[];
  for (int i = threadIdx.x; i < inputs; i += Outputs) row[i] = input[blockIdx.x * inputs + i];
  __syncthreads();
  float sum = bias[threadIdx.x];
  for (int i = 0; i < inputs; ++i) sum += weights[threadIdx.x * inputs + i] * row[i];
  output[blockIdx.x * Outputs + threadIdx.x] = Activation()(sum);
}

template <int Outputs, class Activation>
void dense_layer(const float *input, const float *weights, const float *bias, float *output, int inputs, int rows,
                 cudaStream_t stream) {
  dense_kernel<Outputs, Activation><<<rows, Outputs, inputs * sizeof(float), stream>>>(input, weights, bias, output,
                                                                                       inputs);
}

// Scores become probabilities in place; the index of the largest goes to winners.
template <int Classes> __global__ void softmax_rows(float *scores, int *winners, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float *score = scores + row * Classes;
  int winner = 0;
  for (int c = 1; c < Classes; ++c)
    if (score[c] > score[winner]) winner = c;
  float largest = score[winner], total = 0.0f, part[Classes];
  for (int c = 0; c < Classes; ++c) {
    part[c] = expf(score[c] - largest);
    total += part[c];
  }
  for (int c = 0; c < Classes; ++c) score[c] = part[c] / total;
  winners[row] = winner;
}
