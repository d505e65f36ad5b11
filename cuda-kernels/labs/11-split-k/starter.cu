// @rung    11-split-k
// @title   Lab 11: split-K
// @after   05_thread_tile_2d
// @idea    each tile of C is computed by one block, for any length of K. If C is small, most of the GPU is idle
// @dtype   f32

#include "gemm_common.cuh"

constexpr int BM = 64, BN = 64, BK = 8;  // block tile of C, and its depth in K
constexpr int TM = 8, TN = 8;            // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / BN;  // rows of the B tile that the block copies in one pass

__global__ void __launch_bounds__(kThreads)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ float aTile[BM][BK];
  __shared__ float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Beyond M or N, the last row or column is copied. Out-of-range results are never stored.
  const int aCol = threadIdx.x % BK, aRow = threadIdx.x / BK;
  const int bCol = threadIdx.x % BN, bRow = threadIdx.x / BN;
  const float* aNext[BM / kRowsA];
#pragma unroll
  for (int i = 0; i < BM / kRowsA; ++i)
    aNext[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k + aCol;
  const float* bNext = b + (long long)(bRow) * n + min(col0 + bCol, n - 1);

  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * TN;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
#pragma unroll
    for (int i = 0; i < BM / kRowsA; ++i) {
      aTile[aRow + i * kRowsA][aCol] = t + aCol < k ? *aNext[i] : 0.0f;
      aNext[i] += BK;
    }
#pragma unroll
    for (int i = 0; i < BK / kRowsB; ++i) {
      const int r = bRow + i * kRowsB;
      bTile[r][bCol] = t + r < k ? bNext[(long long)(i * kRowsB) * n] : 0.0f;
    }
    bNext += (long long)BK * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) aValues[i] = aTile[row + i][d];
#pragma unroll
      for (int j = 0; j < TN; ++j) bValues[j] = bTile[d][col + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i;
    if (r >= m) break;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int s = col0 + col + j;
      if (s < n) klStore(&c[(long long)r * n + s], sum[i][j], alpha, beta);
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

// TODO 2: blocks that compute parts of the same sum must store these parts in memory. The function below
//         requests such memory, which the launch gets as p->workspace. The memory is not initialized.
//
// extern "C" size_t kl_workspace_bytes(const KlGemm* p) { return ...; }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);

  // TODO 1: how many blocks does the grid have if C is 128 x 128? How many blocks would keep your GPU busy?
  const dim3 grid = klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN));
  gemmLab<<<grid, kThreads, 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
