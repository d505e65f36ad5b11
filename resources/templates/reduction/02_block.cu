// @rung    02_block
// @title   One atomic per block
// @after   01_atomic
// @idea    a block sums its elements in shared memory and halves the active threads at each step. The first thread adds
//          the block's sum to the result
// @expect  sharedLoads up
// @param   THREADS 256 {128,256,512,1024}
#include "kernel_ladder.h"

__global__ void __launch_bounds__(THREADS) add(const float* x, double* sum, long long n) {
  __shared__ float part[THREADS];
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, double(part[0]));
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (const cudaError_t error = cudaMemsetAsync(p->sum, 0, sizeof(double), stream)) return error;
  add<<<unsigned((p->N + THREADS - 1) / THREADS), THREADS, 0, stream>>>(p->x, p->sum, p->N);
  return cudaGetLastError();
}
