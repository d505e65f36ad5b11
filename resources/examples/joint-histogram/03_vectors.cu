// @rung    03_vectors
// @title   Sixteen pairs per load
// @after   02_shared_atomics
// @idea    a lane loads 16 bytes of each input at once. This takes one sixteenth of the load instructions and puts more
//          bytes in flight
// @param   BLOCKS 528 {132,264,528,1056}
#include "kernel_ladder.h"

__global__ void __launch_bounds__(512) count(const unsigned char* a, const unsigned char* b, unsigned* counts, long long n) {
  __shared__ unsigned own[64 * 64];
  for (int bin = threadIdx.x; bin < 64 * 64; bin += 512) own[bin] = 0;
  __syncthreads();
  const auto four = [&](unsigned as, unsigned bs) {
#pragma unroll
    for (int byte = 0; byte < 32; byte += 8) atomicAdd(&own[(as >> byte & 63) * 64 + (bs >> byte & 63)], 1u);
  };
  for (long long i = (long long)blockIdx.x * 512 + threadIdx.x; i < n / 16; i += 512ll * BLOCKS) {
    const uint4 as = ((const uint4*)a)[i], bs = ((const uint4*)b)[i];
    four(as.x, bs.x);
    four(as.y, bs.y);
    four(as.z, bs.z);
    four(as.w, bs.w);
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 16) {
    const long long i = n / 16 * 16 + threadIdx.x;
    atomicAdd(&own[a[i] * 64 + b[i]], 1u);
  }
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
