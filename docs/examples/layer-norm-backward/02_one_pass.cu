// @rung    02_one_pass
// @title   A block per token, sums in registers
// @idea    each thread keeps the sums of its channels in registers over many tokens. At the end, the thread adds the
//          sums to the workspace, and the last block writes them out
// @after   01_two_passes
#include "kernel_ladder.h"

constexpr int kThreads = 256, kChannels = 8;  // kChannels channels per thread, 2048 in total
constexpr long long kMostBlocks = 528;

// Layout of the workspace, which is zeroed before each launch: the count of finished blocks, then two sums per channel.
struct Sums {
  unsigned* done;
  float *dgamma, *dbeta;

  __host__ __device__ explicit Sums(const KlTask& p)
      : done(static_cast<unsigned*>(p.workspace)),
        dgamma(reinterpret_cast<float*>(static_cast<char*>(p.workspace) + 256)),
        dbeta(dgamma + p.C) {}
};

// Returns the sums of two values over all threads in the block.
__device__ float2 sumOfBlock(float2 value) {
  __shared__ float2 ofWarp[kThreads / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value.x += __shfl_xor_sync(~0u, value.x, lanes);
    value.y += __shfl_xor_sync(~0u, value.y, lanes);
  }
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  value = {0, 0};
  for (const float2& one : ofWarp) value.x += one.x, value.y += one.y;
  __syncthreads();
  return value;
}

__global__ void __launch_bounds__(kThreads) gradients(KlTask p) {
  float dgamma[kChannels] = {}, dbeta[kChannels] = {};
  for (long long token = blockIdx.x; token < p.B * p.T; token += gridDim.x) {
    if (token % p.T >= p.length[token / p.T]) continue;
    const long long first = token * p.C;
    const float mean = p.mean[token], rstd = p.rstd[token];
    float gradient[kChannels], normalized[kChannels];
    float2 sums = {0, 0};
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      const long long c = threadIdx.x + i * kThreads;
      if (c >= p.C) break;
      const float dy = p.dy[first + c];
      normalized[i] = (p.x[first + c] - mean) * rstd;
      gradient[i] = dy * p.gamma[c];
      sums.x += gradient[i];
      sums.y += gradient[i] * normalized[i];
      dgamma[i] += dy * normalized[i];
      dbeta[i] += dy;
    }
    sums = sumOfBlock(sums);
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      const long long c = threadIdx.x + i * kThreads;
      if (c >= p.C) break;
      p.dx[first + c] = rstd * (gradient[i] - (sums.x + normalized[i] * sums.y) / float(p.C));
    }
  }
  const Sums all(p);
#pragma unroll
  for (int i = 0; i < kChannels; ++i) {
    const long long c = threadIdx.x + i * kThreads;
    if (c >= p.C) break;
    atomicAdd(&all.dgamma[c], dgamma[i]);
    atomicAdd(&all.dbeta[c], dbeta[i]);
  }
  __threadfence();
  __syncthreads();
  __shared__ bool isLast;
  if (threadIdx.x == 0) isLast = atomicAdd(all.done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!isLast) return;
  __threadfence();
  for (long long c = threadIdx.x; c < p.C; c += kThreads) {
    p.dgamma[c] = __ldcg(&all.dgamma[c]);
    p.dbeta[c] = __ldcg(&all.dbeta[c]);
  }
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return 256 + 2 * sizeof(float) * size_t(p->C); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const long long tokens = p->B * p->T;
  gradients<<<unsigned(tokens < kMostBlocks ? tokens : kMostBlocks), kThreads, 0, stream>>>(*p);
  return cudaGetLastError();
}
