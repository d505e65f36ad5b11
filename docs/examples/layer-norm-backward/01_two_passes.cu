// @rung    01_two_passes
// @title   A warp per token, then a thread per channel
// @idea    the second kernel reads dy and x again to sum over all tokens
#include "kernel_ladder.h"

constexpr int kWarps = 8;

__device__ float sumOfWarp(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

__global__ void gradientOfInput(KlTask p) {
  const long long token = (long long)blockIdx.x * kWarps + threadIdx.x / 32;
  if (token >= p.B * p.T || token % p.T >= p.length[token / p.T]) return;
  const float* x = p.x + token * p.C;
  const float* dy = p.dy + token * p.C;
  const float mean = p.mean[token], rstd = p.rstd[token];
  float sum = 0, weighted = 0;
  for (long long c = threadIdx.x % 32; c < p.C; c += 32) {
    const float gradient = dy[c] * p.gamma[c];
    sum += gradient;
    weighted += gradient * (x[c] - mean) * rstd;
  }
  sum = sumOfWarp(sum) / float(p.C);
  weighted = sumOfWarp(weighted) / float(p.C);
  for (long long c = threadIdx.x % 32; c < p.C; c += 32)
    p.dx[token * p.C + c] = rstd * (dy[c] * p.gamma[c] - sum - (x[c] - mean) * rstd * weighted);
}

__global__ void gradientOfParameters(KlTask p) {
  const long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  float dgamma = 0, dbeta = 0;
  for (long long b = 0; b < p.B; ++b)
    for (long long token = b * p.T; token < b * p.T + p.length[b]; ++token) {
      const float dy = p.dy[token * p.C + c];
      dgamma += dy * (p.x[token * p.C + c] - p.mean[token]) * p.rstd[token];
      dbeta += dy;
    }
  p.dgamma[c] = dgamma;
  p.dbeta[c] = dbeta;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  gradientOfInput<<<unsigned((p->B * p->T + kWarps - 1) / kWarps), 32 * kWarps, 0, stream>>>(*p);
  gradientOfParameters<<<unsigned(p->C / 128), 128, 0, stream>>>(*p);
  return cudaGetLastError();
}
