// @rung    38_thread_patch
// @title   Uncoalesced 2D thread tile
// @after   37_thread_tile_rows
// @idea    each thread computes a THREAD_TILE x THREAD_TILE square of a 64 x 64 tile. The thread also copies the same square of A and B. Each pair of shared memory reads is used for THREAD_TILE FMAs. However, the copies are scattered, and there are few threads
// @expect  sharedLoads down, sharedLoadBankConflicts down, fmaUtilization up, registersPerThread up, achievedOccupancy down
// @param   THREAD_TILE 8 {4,8}
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int kTile = 64;  // rows and columns of C per block, and depth of a tile
constexpr int kThreads1d = kTile / THREAD_TILE;

// Copies the square at (row, col) of a matrix with `rows` rows and `cols` columns to `tile`. Writes zeros outside the
// matrix.
__device__ void copyPatch(float (*tile)[kTile], int tileRow, int tileCol, const float* from,
                          int rows, int cols, int row, int col, bool whole) {
  const float* next = from + (long long)row * cols + col;
#pragma unroll
  for (int i = 0; i < THREAD_TILE; ++i) {
#pragma unroll
    for (int j = 0; j < THREAD_TILE; ++j)
      tile[tileRow + i][tileCol + j] = whole || (row + i < rows && col + j < cols) ? next[j] : 0.0f;
    next += cols;
  }
}

__global__ void __launch_bounds__(kThreads1d * kThreads1d)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kTile];

  const int row0 = klTileRow() * kTile, col0 = blockIdx.x * kTile;
  if (row0 >= m) return;
  const bool inside = row0 + kTile <= m && col0 + kTile <= n;

  // threadIdx.x selects the row, so neighboring threads are THREAD_TILE rows apart.
  const int tileRow = threadIdx.x * THREAD_TILE, tileCol = threadIdx.y * THREAD_TILE;
  const int row = row0 + tileRow, col = col0 + tileCol;

  float sum[THREAD_TILE][THREAD_TILE] = {};
  for (int t = 0; t < k; t += kTile) {
    const bool whole = inside && t + kTile <= k;  // equal in all threads of the block
    copyPatch(aTile, tileRow, tileCol, a, m, k, row, t + tileCol, whole);
    copyPatch(bTile, tileRow, tileCol, b, k, n, t + tileRow, col, whole);
    __syncthreads();

#pragma unroll 8
    for (int d = 0; d < kTile; ++d)
#pragma unroll
      for (int j = 0; j < THREAD_TILE; ++j)
#pragma unroll
        for (int i = 0; i < THREAD_TILE; ++i)
          sum[i][j] += aTile[tileRow + i][d] * bTile[d][tileCol + j];
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

#pragma unroll
  for (int i = 0; i < THREAD_TILE; ++i) {
    if (row + i >= m) break;
    float* cRow = c + (long long)(row + i) * n;
#pragma unroll
    for (int j = 0; j < THREAD_TILE; ++j)
      if (col + j < n) klStore(&cRow[col + j], sum[i][j], alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<kTile, kTile>(p), dim3(kThreads1d, kThreads1d), p, stream);
}
