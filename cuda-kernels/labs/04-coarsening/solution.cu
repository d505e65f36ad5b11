// @rung    04-coarsening
// @title   Lab 4: coarsening
// @after   39_stride_1
// @idea    each thread computes eight elements of one column, two rows apart. An element of B read from shared memory is used for eight FMAs, and a block has only 32 threads
// @expect  sharedLoads down, fmaUtilization up, registersPerThread up, theoreticalOccupancy down, achievedOccupancy down
// @dtype   f32

#include "gemm_common.cuh"

constexpr int kTile = 16;
constexpr int kPerThread = 8;              // elements per thread: 1, 2, 4, 8 or 16
constexpr int kRows = kTile / kPerThread;  // rows of threads, and distance between a thread's rows

__global__ void __launch_bounds__(kTile * kRows)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kTile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  // Beyond M or K, the tiles get zeros, which do not change the sums. Beyond N, the last column is copied.
  // Out-of-range results are never stored.
  const float* aNext = a + (long long)row * k + tx;
  const float* bNext = b + (long long)ty * n + min(col, n - 1);

  float sum[kPerThread] = {};
  for (int t = 0; t < k; t += kTile) {
#pragma unroll
    for (int s = 0; s < kPerThread; ++s) {
      const int r = ty + s * kRows;
      aTile[r][tx] = row + s * kRows < m && t + tx < k ? aNext[(long long)(s * kRows) * k] : 0.0f;
      bTile[r][tx] = t + r < k ? bNext[(long long)(s * kRows) * n] : 0.0f;
    }
    aNext += kTile;
    bNext += (long long)kTile * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < kTile; ++d) {
      const float bValue = bTile[d][tx];  // read once, used kPerThread times
#pragma unroll
      for (int s = 0; s < kPerThread; ++s) sum[s] += aTile[ty + s * kRows][d] * bValue;
    }
    __syncthreads();
  }

  if (col >= n) return;
#pragma unroll
  for (int s = 0; s < kPerThread; ++s) {
    const int r = row + s * kRows;
    if (r < m) klStore(&c[(long long)r * n + col], sum[s], alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, kTile), ceilDiv(n, kTile));
  gemmLab<<<grid, dim3(kTile, kRows), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
