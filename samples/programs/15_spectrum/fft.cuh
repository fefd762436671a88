// Radix-2 transforms of N points, a block a window, N / 2 threads, in shared memory.
#pragma once
#include <cuda_runtime.h>

template <int N> struct Log2 {
  static constexpr int value = 1 + Log2<N / 2>::value;
};

template <> struct Log2<1> {
  static constexpr int value = 0;
};

template <int Bits> __device__ inline int reversed(int i) {
  int result = 0;
  for (int b = 0; b < Bits; ++b) result |= ((i >> b) & 1) << (Bits - 1 - b);
  return result;
}

__device__ inline float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// Butterflies over values in bit-reversed order; every thread of the block takes part.
template <int N> __device__ inline void butterflies(float2 *values, float direction) {
  for (int half = 1; half < N; half *= 2) {
    int position = threadIdx.x % half, first = (threadIdx.x / half) * 2 * half + position;
    float angle = direction * 3.14159265358979f * position / half;
    float2 turn = make_float2(cosf(angle), sinf(angle));
    float2 a = values[first], b = times(turn, values[first + half]);
    values[first] = make_float2(a.x + b.x, a.y + b.y);
    values[first + half] = make_float2(a.x - b.x, a.y - b.y);
    __syncthreads();
  }
}

template <int N> __global__ void __launch_bounds__(N / 2, 2) fft_forward(const float *signal, float2 *spectrum) {
  __shared__ float2 values[N];
  for (int i = threadIdx.x; i < N; i += N / 2)
    values[reversed<Log2<N>::value>(i)] = make_float2(signal[blockIdx.x * N + i], 0.0f);
  __syncthreads();
  butterflies<N>(values, -1.0f);
  for (int i = threadIdx.x; i < N; i += N / 2) spectrum[blockIdx.x * N + i] = values[i];
}

template <int N> __launch_bounds__(N / 2) __global__ void fft_backward(const float2 *spectrum, float *signal) {
  __shared__ float2 values[N];
  for (int i = threadIdx.x; i < N; i += N / 2) values[reversed<Log2<N>::value>(i)] = spectrum[blockIdx.x * N + i];
  __syncthreads();
  butterflies<N>(values, 1.0f);
  for (int i = threadIdx.x; i < N; i += N / 2) signal[blockIdx.x * N + i] = values[i].x / N;
}

// Launches from within a class template.
template <int N> struct Fft {
  static_assert(N >= 2 && (N & (N - 1)) == 0, "a power of two");

  static void run(const float *signal, float2 *spectrum, int windows, cudaStream_t stream) {
    fft_forward<N><<<windows, N / 2, 0, stream>>>(signal, spectrum);
  }
  static void invert(const float2 *spectrum, float *signal, int windows, cudaStream_t stream) {
    launch(fft_backward<N>, windows, stream, spectrum, signal);
  }

 private:
  // A kernel as a function argument, its parameters deduced.
  template <class... Parameters, class... Arguments>
  static void launch(void (*kernel)(Parameters...), int windows, cudaStream_t stream, Arguments... arguments) {
    kernel<<<dim3{unsigned(windows), 1, 1}, N / 2, 0, stream>>>(arguments...);
  }
};
