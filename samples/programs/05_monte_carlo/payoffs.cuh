// Payoffs of European options: one functor each, chosen at compile time.
#pragma once

struct Call {
  static constexpr const char *name = "call";
  __host__ __device__ static double of(double price, double strike) { return price > strike ? price - strike : 0.0; }
};

struct Put {
  static constexpr const char *name = "put";
  __host__ __device__ static double of(double price, double strike) { return strike > price ? strike - price : 0.0; }
};

struct Digital {
  static constexpr const char *name = "digital";
  __host__ __device__ static double of(double price, double strike) { return price > strike ? 1.0 : 0.0; }
};
