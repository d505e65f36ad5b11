// @rung    06-float4
// @title   Lab 6: 128-bit access
// @after   05_thread_tile_2d
// @idea    each thread computes 8 x 8 elements from 8 + 8 values, and loads and stores floats one at a time
// @dtype   f32

#include "gemm_common.cuh"

constexpr int BM = 128, BN = 128, BK = 8;  // block tile of C, and its depth in K
constexpr int TM = 8, TN = 8;              // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / BN;  // rows of the B tile that the block copies in one pass
static_assert(BM % kRowsA == 0 && BK % kRowsB == 0, "the threads must cover both tiles in whole passes");

// Two blocks per SM, so one computes while the other waits for its tiles.
__global__ void __launch_bounds__(kThreads, 2)
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

  // First row and column of the TM x TN elements that a thread computes.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * TN;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    // TODO 1: a thread loads one float at a time here. When can it load four with one instruction?
    if (t + BK <= k) {  // a full step of K, without checks
#pragma unroll
      for (int i = 0; i < BM / kRowsA; ++i) aTile[aRow + i * kRowsA][aCol] = *aNext[i];
#pragma unroll
      for (int i = 0; i < BK / kRowsB; ++i)
        bTile[bRow + i * kRowsB][bCol] = bNext[(long long)(i * kRowsB) * n];
    } else {  // the rest of K: zeros do not change the sums
#pragma unroll
      for (int i = 0; i < BM / kRowsA; ++i)
        aTile[aRow + i * kRowsA][aCol] = t + aCol < k ? *aNext[i] : 0.0f;
#pragma unroll
      for (int i = 0; i < BK / kRowsB; ++i) {
        const int r = bRow + i * kRowsB;
        bTile[r][bCol] = t + r < k ? bNext[(long long)(i * kRowsB) * n] : 0.0f;
      }
    }
#pragma unroll
    for (int i = 0; i < BM / kRowsA; ++i) aNext[i] += BK;
    bNext += (long long)BK * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      // TODO 2: in which layout of the tiles can a thread load four of these values with one instruction?
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
      // TODO 3: when can a thread store four floats with one instruction?
      if (s < n) klStore(&c[(long long)r * n + s], sum[i][j], alpha, beta);
    }
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
