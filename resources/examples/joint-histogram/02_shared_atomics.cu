// @rung    02_shared_atomics
// @title   Counters in shared memory
// @after   01_global_atomics
// @idea    each block counts in its own 16 KiB of shared memory and adds to global memory once at the end. The kernel
//          executes BLOCKS times 4096 global atomics instead of one per pair
// @param   BLOCKS 528 {132,264,528,1056}
#include "kernel_ladder.h"

__global__ void __launch_bounds__(512) count(const unsigned char* a, const unsigned char* b, unsigned* counts, long long n) {
  __shared__ unsigned own[64 * 64];
  for (int bin = threadIdx.x; bin < 64 * 64; bin += 512) own[bin] = 0;
  __syncthreads();
  for (long long i = (long long)blockIdx.x * 512 + threadIdx.x; i < n; i += 512ll * BLOCKS)
    atomicAdd(&own[a[i] * 64 + b[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 64 * 64; bin += 512)
    if (own[bin]) atomicAdd(&counts[bin], own[bin]);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const cudaError_t cleared = cudaMemsetAsync(p->counts, 0, 64 * 64 * sizeof(unsigned), stream);
  if (cleared != cudaSuccess) return cleared;
  count<<<BLOCKS, 512, 0, stream>>>(p->a, p->b, p->counts, p->N);
  return cudaGetLastError();
}
