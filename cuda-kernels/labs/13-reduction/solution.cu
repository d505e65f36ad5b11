// @rung    13-reduction
// @title   Lab 13: a sum at the speed of memory
// @after   03_sequential
// @idea    a grid of fixed size strides over x with several loads in flight per thread. Lanes add their sums with
//          shuffles, so a block needs only one barrier

#include "kernel_ladder.h"

constexpr int kThreads = 256;
constexpr int kBlocks = 1056;  // eight per SM on the 132 SMs of an H200
constexpr int kLoads = 8;      // loads in flight per thread

__device__ float warpSum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

__global__ void __launch_bounds__(kThreads) sum(const float* x, float* sums, long long n) {
  __shared__ float warpSums[kThreads / 32];
  const long long stride = (long long)gridDim.x * kThreads;
  long long i = (long long)blockIdx.x * kThreads + threadIdx.x;
  float partial[kLoads] = {};
  for (; i + (kLoads - 1) * stride < n; i += kLoads * stride) {
#pragma unroll
    for (int load = 0; load < kLoads; ++load) partial[load] += x[i + load * stride];
  }
  for (; i < n; i += stride) partial[0] += x[i];
#pragma unroll
  for (int load = 1; load < kLoads; ++load) partial[0] += partial[load];

  const float value = warpSum(partial[0]);
  if (threadIdx.x % 32 == 0) warpSums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    const float total = warpSum(threadIdx.x < kThreads / 32 ? warpSums[threadIdx.x] : 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
  }
}

extern "C" size_t kl_workspace_bytes(const KlTask*) { return kBlocks * sizeof(float); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* sums = static_cast<float*>(p->workspace);
  sum<<<kBlocks, kThreads, 0, stream>>>(p->x, sums, p->N);
  sum<<<1, kThreads, 0, stream>>>(sums, p->y, kBlocks);
  return cudaGetLastError();
}
