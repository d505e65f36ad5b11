// @rung    13-reduction
// @title   Lab 13: a sum at the speed of memory
// @after   03_sequential
// @idea    each thread loads one element, and a tree in shared memory adds the elements of the block

#include "passes.cuh"

constexpr int kThreads = 256;

// Computes one sum per block of kThreads elements. Further launches add these sums until a single sum is left.
// TODO: a block needs nine barriers for 256 elements, and in the last six steps, one warp works while seven wait.
//       Let each thread first add many elements in a register, so that the block uses the tree once for all of them.
//       Then let the lanes of a warp exchange their sums without shared memory.
__global__ void __launch_bounds__(kThreads) sum(const float* x, float* sums, long long n) {
  __shared__ float tree[kThreads];
  const long long i = (long long)blockIdx.x * kThreads + threadIdx.x;
  tree[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return klPassBytes(p->N, kThreads); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klPasses(p, kThreads, [=](const float* from, float* to, long long n, unsigned blocks) {
    sum<<<blocks, kThreads, 0, stream>>>(from, to, n);
  });
}
