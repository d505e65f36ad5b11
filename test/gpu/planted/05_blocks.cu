// @rung    05_blocks
// @title   Many blocks
// @idea    the kernel launches a known number of blocks
#include "kernel_ladder.h"
#include "planted.h"

constexpr int kWork = 1000;

__global__ void __launch_bounds__(128) work(const float* x, float* y, long long n, long long m) {
  float acc = 0;
  float a = x[threadIdx.x], b = a + 1;
  for (int i = 0; i < 300; ++i) {
    a = a * 0.999f + 0.1f;
    b = b * 0.999f + 0.1f;
  }
  acc = a + b;
  finish(x, y, m, acc);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  work<<<132 * kWork / 4, 128, 0, stream>>>(p->x, p->y, p->N, p->M);
  return cudaGetLastError();
}
