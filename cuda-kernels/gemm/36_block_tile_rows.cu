// @rung    36_block_tile_rows
// @title   Uncoalesced shared-memory tile
// @after   01_naive
// @idea    a block copies tiles of A and B into shared memory and uses each element TILE times. threadIdx.x is still the row index, so the copies are not coalesced. A warp's reads of A hit only a few banks
// @expect  sharedLoads up, sharedLoadBankConflicts up, sharedStoreBankConflicts up, fmaUtilization up
// @param   TILE 16 {16,32}
// @dtype   f32

#include "gemm_launch.cuh"

__global__ void __launch_bounds__(TILE * TILE)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[TILE][TILE];
  __shared__ float bTile[TILE][TILE];

  // Unlike in the other tiled rungs, neighboring threads process neighboring rows of a column.
  const int tileRow = threadIdx.x, tileCol = threadIdx.y;
  const int row = klTileRow() * TILE + tileRow;
  const int col = blockIdx.x * TILE + tileCol;

  // A thread outside C still copies tile elements, so it cannot return. Past M or N, the last row or column is copied.
  // Out-of-range sums are never stored, so the loop does not check M or N.
  const float* aNext = a + (long long)min(row, m - 1) * k + tileCol;
  const float* bNext = b + (long long)tileRow * n + min(col, n - 1);
  const long long bStep = (long long)TILE * n;

  float sum = 0.0f;
  for (int t = 0; t < k; t += TILE) {
    const bool whole = t + TILE <= k;  // false in the last tile, where zeros fill the part past K
    aTile[tileRow][tileCol] = whole || t + tileCol < k ? *aNext : 0.0f;
    bTile[tileRow][tileCol] = whole || t + tileRow < k ? *bNext : 0.0f;
    aNext += TILE;
    bNext += bStep;
    __syncthreads();

    // The rows of a warp are TILE floats apart in aTile. With a TILE of 16, every second row starts in the same bank;
    // with 32, every row does.
#pragma unroll
    for (int d = 0; d < TILE; ++d) sum += aTile[tileRow][d] * bTile[d][tileCol];
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<TILE, TILE>(p), dim3(TILE, TILE), p, stream);
}
