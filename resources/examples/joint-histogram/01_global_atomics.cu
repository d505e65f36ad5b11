// @rung    01_global_atomics
// @title   Atomics in global memory
// @idea    one thread per pair of values adds 1 to a counter shared by all SMs. The atomics of a bin queue up in L2
#include "kernel_ladder.h"

__global__ void count(const unsigned char* a, const unsigned char* b, unsigned* counts, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[a[i] * 64 + b[i]], 1u);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const cudaError_t cleared = cudaMemsetAsync(p->counts, 0, 64 * 64 * sizeof(unsigned), stream);
  if (cleared != cudaSuccess) return cleared;
  count<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->a, p->b, p->counts, p->N);
  return cudaGetLastError();
}
