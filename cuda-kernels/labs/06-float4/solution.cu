// @rung    06-float4
// @title   Lab 6: 128-bit access
// @after   05_thread_tile_2d
// @idea    four floats an access: from global memory, from shared memory, where A lies transposed so that a column of it is contiguous, and to C
// @expect  sharedLoadBankConflicts down, sharedStoreBankConflicts up, sharedLoads same, fmaUtilization up
// @dtype   f32

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int BM = 128, BN = 128, BK = 8;  // the tile of a block, and its depth
constexpr int TM = 8, TN = 8;              // rows and columns of a thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kGroupStride = BN / (TN / 4);  // columns from one group of four of a thread to its next
static_assert(kThreads * 4 == BM * BK && kThreads * 4 == BK * BN, "four floats of each tile for a thread");

// Four neighbouring floats of a row of `length`, from index i on; zeros where the row has ended. With
// kAligned the row is 16-byte aligned and its length a multiple of 4: one access fetches all four.
template <bool kAligned>
__device__ float4 loadFour(const float* row, int i, int length) {
  if (kAligned) return i < length ? *reinterpret_cast<const float4*>(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

// Two blocks on an SM, so that one computes while the other waits for its tiles.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[BK][BM];  // transposed: a column of A is a row here
  __shared__ __align__(16) float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Which four elements a thread copies. Beyond M the last row is read in place of nothing, and beyond
  // N the last four columns where n is a multiple of 4: what comes of it is never stored.
  const int aCol = threadIdx.x % (BK / 4) * 4, aRow = threadIdx.x / (BK / 4);
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);
  const float* aLine = a + (long long)min(row0 + aRow, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Which elements a thread computes: eight rows, and two groups of four columns that lie half a tile
  // apart. So neighbouring threads read neighbouring groups, which fall into different banks.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * 4;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    float4 aFour, bFour;
    if (kAligned && t + BK <= k) {  // a whole tile of K: nothing to check
      aFour = *reinterpret_cast<const float4*>(aLine + aCol + t);
      bFour = *reinterpret_cast<const float4*>(bNext + bFrom);
    } else {
      aFour = loadFour<kAligned>(aLine, aCol + t, k);
      bFour = loadFour<kAligned>(bNext, bFrom, t + bRow < k ? n : 0);
    }
    bNext += (long long)BK * n;

    aTile[aCol + 0][aRow] = aFour.x;
    aTile[aCol + 1][aRow] = aFour.y;
    aTile[aCol + 2][aRow] = aFour.z;
    aTile[aCol + 3][aRow] = aFour.w;
    *reinterpret_cast<float4*>(&bTile[bRow][bCol]) = bFour;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&aValues[i]) = *reinterpret_cast<const float4*>(&aTile[d][row + i]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&bValues[j]) =
            *reinterpret_cast<const float4*>(&bTile[d][col + j / 4 * kGroupStride]);
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
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = col0 + col + j / 4 * kGroupStride;
      if (kAligned) {
        if (s < n)
          klStore(reinterpret_cast<float4*>(&cRow[s]),
                  make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), alpha, beta);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l)
          if (s + l < n) klStore(&cRow[s + l], sum[i][j + l], alpha, beta);
      }
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN));

  // A 128-bit access needs a 16-byte aligned address in every row.
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned = k % 4 == 0 && n % 4 == 0 &&
                       (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = aligned ? gemmLab<true> : gemmLab<false>;
  kernel<<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const float*>(p->a),
                                        static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
