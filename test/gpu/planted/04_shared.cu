// @rung    04_shared
// @title   Shared memory and barriers
// @idea    the kernel executes a known number of shared memory accesses and barriers
#include "kernel_ladder.h"
#include "planted.h"

constexpr int kWork = 1000;

__global__ void __launch_bounds__(256) work(const float* x, float* y, long long n, long long m) {
  float acc = 0;
  __shared__ float tile[512];
  tile[threadIdx.x] = x[threadIdx.x];
  tile[threadIdx.x + 256] = x[threadIdx.x + 256];
  __syncthreads();
  for (int i = 0; i < kWork; ++i) {
    acc += tile[(threadIdx.x * 5 + i) & 511];
    __syncthreads();
    tile[threadIdx.x] = acc * 0.5f;
    __syncthreads();
  }
  finish(x, y, m, acc);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  work<<<132 * 4, 256, 0, stream>>>(p->x, p->y, p->N, p->M);
  return cudaGetLastError();
}
