// @rung    02_coalesced
// @title   Coalesced
// @after   01_first
// @idea    neighboring threads take neighboring elements, four at a time, so a warp loads 512 contiguous bytes
// @param   THREADS 256 {128,256,512,1024}
#include "kernel_ladder.h"

// A @param defines a macro: THREADS is 256 by default; --param THREADS=512 on the command line changes it.
__global__ void __launch_bounds__(THREADS) scale(const float* x, float* y, float a, long long n) {
  const long long i = ((long long)blockIdx.x * THREADS + threadIdx.x) * 4;
  if (i + 4 <= n) {
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(y + i) = make_float4(a * four.x, a * four.y, a * four.z, a * four.w);
  } else {
    for (long long rest = i; rest < n; ++rest) y[rest] = a * x[rest];
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const long long threads = (p->N + 3) / 4;
  scale<<<unsigned((threads + THREADS - 1) / THREADS), THREADS, 0, stream>>>(p->x, p->y, p->a, p->N);
  return cudaGetLastError();
}
