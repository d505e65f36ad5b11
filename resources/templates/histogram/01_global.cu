// @rung    01_global
// @title   Atomics in global memory
// @idea    one thread per byte adds 1 to its bin. All SMs contend for 256 counters in L2
#include "kernel_ladder.h"

__global__ void count(const unsigned char* data, unsigned* bins, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1u);
}

// The runner calls this function, which enqueues the work and returns without waiting.
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  count<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->data, p->bins, p->N);
  return cudaGetLastError();
}
