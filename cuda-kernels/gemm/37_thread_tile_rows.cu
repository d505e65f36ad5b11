// @rung    37_thread_tile_rows
// @title   Uncoalesced 1D thread tile
// @after   36_block_tile_rows
// @idea    each thread computes TM adjacent rows of one column of a BLOCK x BLOCK tile. An element of B read from shared memory is used for TM FMAs. Every FMA still reads its own element of A, with as many bank conflicts as before
// @expect  sharedLoads down, sharedLoadBankConflicts same, sharedStoreBankConflicts down, fmaUtilization up
// @param   BLOCK 32 {32,64}
// @param   TM 8 {4,8}
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int kThreadsX = BLOCK / TM;  // threads along M, with TM rows each
constexpr int kThreads = kThreadsX * BLOCK;

__global__ void __launch_bounds__(kThreads)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[BLOCK][BLOCK];
  __shared__ float bTile[BLOCK][BLOCK];

  const int tileRow = threadIdx.x * TM, tileCol = threadIdx.y;
  const int row = klTileRow() * BLOCK + tileRow;
  const int col = blockIdx.x * BLOCK + tileCol;

  // A thread copies TM rows of A and of B at the positions of its elements of C. Past M or N, the last row or column is
  // read instead. Out-of-range results are never stored.
  const float* aNext[TM];
#pragma unroll
  for (int i = 0; i < TM; ++i) aNext[i] = a + (long long)min(row + i, m - 1) * k + tileCol;
  const float* bNext = b + (long long)tileRow * n + min(col, n - 1);

  float sum[TM] = {};
  for (int t = 0; t < k; t += BLOCK) {
    const bool whole = t + BLOCK <= k;  // false in the last tile, where zeros fill the part past K
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      aTile[tileRow + i][tileCol] = whole || t + tileCol < k ? *aNext[i] : 0.0f;
      bTile[tileRow + i][tileCol] = whole || t + tileRow + i < k ? bNext[(long long)i * n] : 0.0f;
      aNext[i] += BLOCK;
    }
    bNext += (long long)BLOCK * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BLOCK; ++d) {
      const float bValue = bTile[d][tileCol];
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i] += aTile[tileRow + i][d] * bValue;
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  if (col >= n) return;
#pragma unroll
  for (int i = 0; i < TM; ++i)
    if (row + i < m) klStore(&c[(long long)(row + i) * n + col], sum[i], alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<BLOCK, BLOCK>(p), dim3(kThreadsX, BLOCK), p, stream);
}
