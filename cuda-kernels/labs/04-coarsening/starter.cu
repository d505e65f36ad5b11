// @rung    04-coarsening
// @title   Lab 4: coarsening
// @after   39_stride_1
// @idea    each thread computes one element of C, so every FMA reads two operands from shared memory
// @dtype   f32

#include "gemm_common.cuh"

constexpr int kTile = 16;  // a block computes 16 x 16 elements of C: do not change this

// TODO: let each thread compute several elements of one column instead of a single element.
//       Which of the two shared-memory operands of its FMAs can a thread then read once and reuse?
//       The block then has fewer threads, so each thread must also copy several elements of each tile.
__global__ void __launch_bounds__(kTile * kTile)
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

  float sum = 0.0f;
  for (int t = 0; t < k; t += kTile) {
    aTile[ty][tx] = row < m && t + tx < k ? *aNext : 0.0f;
    bTile[ty][tx] = t + ty < k ? *bNext : 0.0f;
    aNext += kTile;
    bNext += (long long)kTile * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < kTile; ++d) sum += aTile[ty][d] * bTile[d][tx];
    __syncthreads();
  }

  if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, kTile), ceilDiv(n, kTile));
  gemmLab<<<grid, dim3(kTile, kTile), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
