// Code that the planted rungs share. `kWork` is their amount of work, which ../regress.mjs changes.
#pragma once

// Writes the result. Uses `acc`, so the compiler does not remove the work that computes it.
__device__ inline void finish(const float* x, float* y, long long m, float acc) {
  if (acc == 123.456f) y[0] = acc;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = first; i < m; i += (long long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
