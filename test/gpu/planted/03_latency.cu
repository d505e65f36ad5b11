// @rung    03_latency
// @title   Dependent loads
// @idea    the kernel does a known number of dependent loads
#include "kernel_ladder.h"
#include "planted.h"

constexpr int kWork = 1000;

__global__ void __launch_bounds__(32) work(const float* x, float* y, long long n, long long m) {
  float acc = 0;
  unsigned at = threadIdx.x * 32 + blockIdx.x * 4096;
  for (int i = 0; i < kWork; ++i) {
    const float v = x[at & 0x7fffff];
    acc += v;
    at = at * 1664525u + 1013904223u + (v > 2.f);
  }
  finish(x, y, m, acc);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  work<<<132, 32, 0, stream>>>(p->x, p->y, p->N, p->M);
  return cudaGetLastError();
}
