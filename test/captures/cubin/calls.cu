// Kernels that call what is not in them: prints, an assertion, recursion, and variables that the host writes to.
#include <cassert>
#include <cstdio>

__constant__ float factors[4];
__device__ float table[4];

extern "C" __global__ void prints(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) printf("%d of %s: %.2f\n", i, "block", out[i]);
  out[i] = i;
}

extern "C" __global__ void asserts(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);  // fails
  out[i] = i;
}

__device__ __noinline__ float sum(const float* out, int n) { return n == 0 ? 0 : sum(out, n - 1) + out[n]; }  // nests

extern "C" __global__ void recurses(float* out, int n) { out[64 + threadIdx.x] = sum(out, n); }

extern "C" __global__ void scales(float* out, int n) { out[threadIdx.x] = factors[n & 3] * table[threadIdx.x & 3]; }
