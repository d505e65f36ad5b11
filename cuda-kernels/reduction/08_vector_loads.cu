// @rung    08_vector_loads
// @title   Wide loads, several at once
// @after   07_grid_stride
// @idea    each thread issues LOADS 16-byte loads before its first addition. The kernel needs a quarter of the load
//          instructions. Each warp has more bytes in flight, which hides the DRAM latency
// @param   THREADS 256 {128,256,512}
// @param   BLOCKS 1056 {132,264,528,1056,2112}
// @param   LOADS 4 {1,2,4,8}
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
  tree[threadIdx.x] = own[0];
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
