// @rung    06_divide
// @title   Integer division
// @idea    the kernel does a known number of integer divisions
#include "kernel_ladder.h"
#include "planted.h"

constexpr int kWork = 1000;

__global__ void __launch_bounds__(256) work(const float* x, float* y, long long n, long long m) {
  float acc = 0;
  int a = threadIdx.x + 7, b = int(x[threadIdx.x] * 100) | 1;
  for (int i = 0; i < kWork; ++i) {
    a = a * 31 + a / b + i;
    b = (b + 2) | 1;
  }
  acc = __int_as_float(a);
  finish(x, y, m, acc);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  work<<<132 * 8, 256, 0, stream>>>(p->x, p->y, p->N, p->M);
  return cudaGetLastError();
}
