// @rung    02_shared
// @title   One histogram per block
// @after   01_global
// @idea    each persistent block counts into its own 256 bins in shared memory and adds them to the result once
// @expect  sharedLoads up
// @param   THREADS 256 {256,512}
#include "kernel_ladder.h"

__global__ void __launch_bounds__(THREADS) count(const unsigned char* data, unsigned* bins, long long n) {
  __shared__ unsigned own[256];
  for (int bin = threadIdx.x; bin < 256; bin += THREADS) own[bin] = 0;
  __syncthreads();
  const long long stride = (long long)gridDim.x * THREADS;
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += stride) atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += THREADS)
    if (own[bin] > 0) atomicAdd(&bins[bin], own[bin]);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  int device = 0, smCount = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  if (const cudaError_t error = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device)) return error;
  count<<<unsigned(smCount * 2048 / THREADS), THREADS, 0, stream>>>(p->data, p->bins, p->N);
  return cudaGetLastError();
}
