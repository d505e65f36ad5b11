// @rung    01_first
// @title   32 neighbors per thread
// @idea    each thread takes 32 consecutive elements. At each step, the threads of a warp are 128 bytes apart, so every
//          4-byte load fetches a 32-byte sector
#include "kernel_ladder.h"  // KlTask, generated from ladder.yaml

__global__ void scale(const float* x, float* y, float a, long long n) {
  const long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 32;
  for (long long i = first; i < first + 32 && i < n; ++i) y[i] = a * x[i];
}

// Enqueues the work on the stream and returns without waiting. Every pointer in p points to GPU memory.
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const long long threads = (p->N + 31) / 32;
  scale<<<unsigned((threads + 255) / 256), 256, 0, stream>>>(p->x, p->y, p->a, p->N);
  return cudaGetLastError();
}
