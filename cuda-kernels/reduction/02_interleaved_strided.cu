// @rung    02_interleaved_strided
// @title   Interleaved pairs, strided index
// @after   01_interleaved_divergent
// @idea    the first threads of the block do the additions, so whole warps become idle. Adjacent threads use elements
//          2s words apart, so more and more lanes of a warp access the same bank
// @expect  sharedLoadBankConflicts up
// @param   THREADS 256 {128,256,512}
#include "passes.cuh"

// On an H200, this rung is slower than the previous one: the bank conflicts cost more than the idle lanes did. On
// Harris's G80, this rung was faster.

__global__ void __launch_bounds__(THREADS) sum(const float* x, float* sums, long long n) {
  __shared__ float tree[THREADS];
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  tree[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    const int at = 2 * step * threadIdx.x;
    if (at < THREADS) tree[at] += tree[at + step];
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
