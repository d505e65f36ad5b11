// @rung    07_grid_stride
// @title   Several elements per thread
// @after   06_fully_unrolled
// @idea    a fixed number of blocks covers the elements in a grid-stride loop, with one partial sum per thread. The
//          cost of the tree, its barriers, and the block launch is spread over many elements
// @param   THREADS 256 {128,256,512}
// @param   BLOCKS 1056 {132,264,528,1056,2112}
#include "kernel_ladder.h"

// With 256 threads, 1056 blocks fill an H200 exactly once: 8 blocks on each of its 132 SMs.

// Sums the 64 elements of `tree` into tree[0]. Harris relied on the lanes of a warp running in lockstep. Since
// Volta, lanes must be synchronized explicitly.
__device__ void lastWarp(float* tree) {
  const int lane = threadIdx.x;
  float value = tree[lane] + tree[lane + 32];
#pragma unroll
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
  float own = 0;
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS)
    own += x[i];
  tree[threadIdx.x] = own;
  __syncthreads();
#pragma unroll
  for (int half = THREADS / 2; half > 32; half /= 2) {
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) lastWarp(tree);
  if (threadIdx.x == 0) sums[blockIdx.x] = tree[0];
}

extern "C" size_t kl_workspace_bytes(const KlTask*) { return BLOCKS * sizeof(float); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* sums = static_cast<float*>(p->workspace);
  sum<<<BLOCKS, THREADS, 0, stream>>>(p->x, sums, p->N);
  sum<<<1, THREADS, 0, stream>>>(sums, p->y, BLOCKS);
  return cudaGetLastError();
}
