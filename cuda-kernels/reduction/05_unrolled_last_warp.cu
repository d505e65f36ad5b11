// @rung    05_unrolled_last_warp
// @title   Last warp without barriers
// @after   04_first_add_on_load
// @idea    when 64 sums are left, one warp adds them in six steps without a block-wide barrier
// @param   THREADS 256 {128,256,512}
#include "passes.cuh"

// Sums the 64 elements of `tree` into tree[0]. Harris relied on the lanes of a warp running in lockstep. Since
// Volta, lanes must be synchronized explicitly.
__device__ void lastWarp(float* tree) {
  const int lane = threadIdx.x;
  float value = tree[lane] + tree[lane + 32];
  for (int half = 16; half > 0; half /= 2) {
    tree[lane] = value;
    __syncwarp();
    if (lane < half) value += tree[lane + half];
    __syncwarp();
  }
  tree[lane] = value;
}

__global__ void __launch_bounds__(THREADS) sum(const float* x, float* sums, long long n) {
  __shared__ float tree[THREADS];
  const long long i = (long long)blockIdx.x * (2 * THREADS) + threadIdx.x;
  tree[threadIdx.x] = (i < n ? x[i] : 0) + (i + THREADS < n ? x[i + THREADS] : 0);
  __syncthreads();
  for (int half = THREADS / 2; half > 32; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) lastWarp(tree);
  if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return klPassBytes(p->N, 2 * THREADS); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klPasses(p, 2 * THREADS, [=](const float* from, float* to, long long n, unsigned blocks) {
    sum<<<blocks, THREADS, 0, stream>>>(from, to, n);
  });
}
