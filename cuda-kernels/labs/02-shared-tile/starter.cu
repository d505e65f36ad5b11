// @rung    02-shared-tile
// @title   Lab 2: shared tile
// @after   02_coalesced
// @idea    a block copies tiles of A and B into shared memory and computes from these tiles, but its results are not always right
// @dtype   f32

#include "gemm_common.cuh"

constexpr int kTile = 32;  // a block has 32 x 32 threads, one for each element of a tile

__global__ void __launch_bounds__(kTile * kTile)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kTile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int t = 0; t < k; t += kTile) {
    // Outside the matrices, the tiles get zeros, which do not change the sums.
    aTile[ty][tx] = row < m && t + tx < k ? a[(long long)row * k + t + tx] : 0.0f;
    bTile[ty][tx] = t + ty < k && col < n ? b[(long long)(t + ty) * n + col] : 0.0f;

    // TODO: this loop reads 32 elements of each tile. Which threads and which warps wrote these elements?
    for (int i = 0; i < kTile; ++i) sum += aTile[ty][i] * bTile[i][tx];
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
