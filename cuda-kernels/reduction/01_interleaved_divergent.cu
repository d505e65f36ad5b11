// @rung    01_interleaved_divergent
// @title   Interleaved pairs, divergent
// @idea    a block adds its elements in a tree in shared memory. In step s, every 2s-th thread adds the element s words
//          away. The active threads are spread over all warps, so every warp has fewer and fewer active lanes
// @param   THREADS 256 {128,256,512}
#include "passes.cuh"

__global__ void __launch_bounds__(THREADS) sum(const float* x, float* sums, long long n) {
  __shared__ float tree[THREADS];
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  tree[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) tree[threadIdx.x] += tree[threadIdx.x + step];
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
