// Code that the planted rungs share. ../regress.mjs changes `kWork`, the amount of work in a rung.
#pragma once

// Writes the result. Uses `acc`, so that the compiler does not remove its computation.
__device__ inline void finish(const float* x, float* y, long long m, float acc) {
  if (acc == 123.456f) y[0] = acc;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = first; i < m; i += (long long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
