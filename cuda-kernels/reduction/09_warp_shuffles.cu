// @rung    09_warp_shuffles
// @title   Shuffles instead of the tree
// @after   08_vector_loads
// @idea    lanes exchange their sums with shuffles. Shared memory holds only one word per warp, and one barrier
//          replaces three
// @expect  sharedLoads down
// @param   THREADS 256 {128,256,512}
// @param   BLOCKS 1056 {132,264,528,1056,2112}
// @param   LOADS 4 {1,2,4,8}
#include "kernel_ladder.h"

// With 256 threads, 1056 blocks fill an H200 exactly once: 8 blocks on each of its 132 SMs.

// Returns the sum of the warp's values in all lanes.
__device__ float warpSum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

__global__ void __launch_bounds__(THREADS) sum(const float* x, float* sums, long long n) {
  __shared__ float ofWarp[THREADS / 32];
  const float4* quads = reinterpret_cast<const float4*>(x);
  const long long stride = (long long)gridDim.x * THREADS, first = (long long)blockIdx.x * THREADS + threadIdx.x;
  float own[LOADS] = {};
  long long i = first;
  for (; i + (LOADS - 1) * stride < n / 4; i += LOADS * stride) {
    float4 loaded[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; ++load) loaded[load] = quads[i + load * stride];
#pragma unroll
    for (int load = 0; load < LOADS; ++load)
      own[load] += (loaded[load].x + loaded[load].y) + (loaded[load].z + loaded[load].w);
  }
  for (; i < n / 4; i += stride) own[0] += (quads[i].x + quads[i].y) + (quads[i].z + quads[i].w);
  if (first < n % 4) own[0] += x[n / 4 * 4 + first];
#pragma unroll
  for (int load = 1; load < LOADS; ++load) own[0] += own[load];
  const float value = warpSum(own[0]);
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    const float total = warpSum(threadIdx.x < THREADS / 32 ? ofWarp[threadIdx.x] : 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
  }
}

extern "C" size_t kl_workspace_bytes(const KlTask*) { return BLOCKS * sizeof(float); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* sums = static_cast<float*>(p->workspace);
  sum<<<BLOCKS, THREADS, 0, stream>>>(p->x, sums, p->N);
  sum<<<1, THREADS, 0, stream>>>(sums, p->y, BLOCKS);
  return cudaGetLastError();
}
