// @rung    01_fma
// @title   FMA chains
// @idea    the kernel does a known number of FMAs
#include "kernel_ladder.h"
#include "planted.h"

constexpr int kWork = 1000;

__global__ void __launch_bounds__(256) work(const float* x, float* y, long long n, long long m) {
  float acc = 0;
  float a = x[threadIdx.x], b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < kWork; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      a = a * 0.999f + 0.1f;
      b = b * 0.999f + 0.1f;
      c = c * 0.999f + 0.1f;
      d = d * 0.999f + 0.1f;
    }
  }
  acc = a + b + c + d;
  finish(x, y, m, acc);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  work<<<132 * 8, 256, 0, stream>>>(p->x, p->y, p->N, p->M);
  return cudaGetLastError();
}
