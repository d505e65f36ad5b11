// @rung    03_sequential
// @title   Sequential addressing
// @after   02_interleaved_strided
// @idea    the upper half of the tree is added to the lower half. Adjacent lanes then read adjacent words, one per bank
// @expect  sharedLoadBankConflicts down
// @param   THREADS 256 {128,256,512}
#include "passes.cuh"

__global__ void __launch_bounds__(THREADS) sum(const float* x, float* sums, long long n) {
  __shared__ float tree[THREADS];
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  tree[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return klPassBytes(p->N, THREADS); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klPasses(p, THREADS, [=](const float* from, float* to, long long n, unsigned blocks) {
    sum<<<blocks, THREADS, 0, stream>>>(from, to, n);
  });
}
