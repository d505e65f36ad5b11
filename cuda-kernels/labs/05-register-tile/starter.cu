// @rung    05-register-tile
// @title   Lab 5: register tile
// @after   04_thread_tile_1d
// @idea    each thread computes eight rows of one column: nine values read from shared memory for eight FMAs
// @dtype   f32

#include "gemm_common.cuh"

constexpr int BM = 64, BN = 64, BK = 8;  // block tile of C, and its depth in K
constexpr int TM = 8;                    // rows per thread

constexpr int kThreads = BM / TM * BN;
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / BN;  // rows of the B tile that the block copies in one pass
static_assert(BM % kRowsA == 0 && BK % kRowsB == 0, "the threads must cover both tiles in whole passes");

// Limits registers so that threads fill the SM. With so few sums per thread, only other warps hide latency.
__global__ void __launch_bounds__(kThreads, kThreadsPerSm == 2048 ? 4 : 2)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ float aTile[BM][BK];
  __shared__ float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Elements that a thread copies. Neighboring threads copy from neighboring addresses. Beyond M or N, the
  // last row or column is copied. Out-of-range results are never stored.
  const int aCol = threadIdx.x % BK, aRow = threadIdx.x / BK;
  const int bCol = threadIdx.x % BN, bRow = threadIdx.x / BN;
  const float* aNext[BM / kRowsA];
#pragma unroll
  for (int i = 0; i < BM / kRowsA; ++i)
    aNext[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k + aCol;
  const float* bNext = b + (long long)bRow * n + min(col0 + bCol, n - 1);

  // Elements that a thread computes: rows `row` to row + TM - 1 of column `col`.
  // TODO 1: compute TN columns per thread. How many threads are in a block then? How do row and col change?
  const int col = threadIdx.x % BN, row = threadIdx.x / BN * TM;
  float sum[TM] = {};

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
      // TODO 2: count the reads and FMAs per step. How many reads does a tile of TM x TN need?
      const float bValue = bTile[d][col];
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i] += aTile[row + i][d] * bValue;
    }
    __syncthreads();
  }

  if (col0 + col >= n) return;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i;
    if (r < m) klStore(&c[(long long)r * n + col0 + col], sum[i], alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN));
  gemmLab<<<grid, kThreads, 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
