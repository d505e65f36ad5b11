// @rung    10-async-copies
// @title   Lab 10: asynchronous copies
// @after   08_warp_tile
// @idea    cp.async copies tiles directly from global to shared memory, three tiles ahead. Tiles in flight occupy no registers, and each copy has the time of three tiles to arrive
// @expect  fmaUtilization up, sharedStoreWavefronts down, stallLongScoreboard down, achievedOccupancy same
// @dtype   f32
// @requires sm_80

#include "gemm_common.cuh"

#include <cuda_pipeline.h>
#include <stdint.h>

constexpr int BM = 128, BN = 128, BK = 8;  // block tile of C, and its depth in K
constexpr int WM = 64, WN = 32;            // warp tile of C
constexpr int TM = 8, TN = 8;              // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kWarpsN = BN / WN;                         // warps across the block tile
constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN; // arrangement of the lanes in the warp tile
static_assert(kLanesM * TM == WM && kThreads / 32 == BM / WM * kWarpsN, "32 lanes must cover the warp tile");
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
static_assert(kThreads * 4 == BM * BK && kThreads * 4 == BK * BN, "a thread copies four floats per tile");

constexpr int kStages = 4;  // one tile is used while three are in flight

// Two blocks per SM, so one computes while the other waits for its tiles.
// If kWhole, m, n and k are multiples of the tile and every row is 16-byte aligned, so no checks are needed.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads, kWhole ? 2 : 1)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[kStages][BK][BM + 4];  // transposed, padded against bank conflicts
  __shared__ __align__(16) float bTile[kStages][BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Elements that a thread copies. An asynchronous copy cannot reorder elements. To transpose A, each copy
  // therefore moves a single float. Eight lanes copy eight adjacent floats of a row of A. Beyond M, the
  // last row is copied. Out-of-range results are never stored.
  const int aCol = threadIdx.x % BK, aRow = threadIdx.x / BK;
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);
  const float* aRows[BM / kRowsA];
#pragma unroll
  for (int i = 0; i < BM / kRowsA; ++i) {
    const int r = row0 + aRow + i * kRowsA;
    aRows[i] = a + (long long)(kWhole ? r : min(r, m - 1)) * k;
  }

  // Starts the copies of the tile at t. The last argument of __pipeline_memcpy_async is the number of bytes
  // that are filled with zeros instead of copied data.
  const auto copy = [&](int stage, int t) {
#pragma unroll
    for (int i = 0; i < BM / kRowsA; ++i) {
      const bool inside = kWhole || t + aCol < k;
      __pipeline_memcpy_async(&aTile[stage][aCol][aRow + i * kRowsA], aRows[i] + (inside ? t + aCol : 0), 4,
                              inside ? 0 : 4);
    }
    const float* bSource = b + (long long)(t + bRow) * n + col0 + bCol;
    if (kWhole) {
      __pipeline_memcpy_async(&bTile[stage][bRow][bCol], bSource, 16);
    } else {
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        const bool inside = t + bRow < k && col0 + bCol + l < n;
        __pipeline_memcpy_async(&bTile[stage][bRow][bCol + l], inside ? bSource + l : b, 4, inside ? 0 : 4);
      }
    }
  };

  // Elements that a thread computes: two groups of four rows by two groups of four columns. The groups of
  // other lanes separate a thread's two groups. The eight lanes of a quarter warp cover only two row groups
  // and four column groups, so a shared load reads few distinct floats.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;
  float sum[TM][TN] = {};

#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s * BK < k) copy(s, s * BK);
    __pipeline_commit();  // also commits empty groups, so the wait below counts correctly at the end of K
  }

  int stage = 0;
  for (int t = 0; t < k; t += BK) {
    __pipeline_wait_prior(kStages - 2);  // this thread's copies of the tile at t have arrived
    __syncthreads();                     // all copies have arrived, and the previous stage is free

    const int ahead = t + (kStages - 1) * BK;
    if (ahead < k) copy((stage + kStages - 1) % kStages, ahead);
    __pipeline_commit();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&aValues[i]) =
            *reinterpret_cast<const float4*>(&aTile[stage][d][row + i * kLanesM]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&bValues[j]) =
            *reinterpret_cast<const float4*>(&bTile[stage][d][col + j * kLanesN]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }
    stage = (stage + 1) % kStages;
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i / 4 * 4 * kLanesM + i % 4;
    if (r >= m) break;  // rows of a thread are in ascending order
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = col0 + col + j * kLanesN;
      if (kWhole) {
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

  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 &&
                     (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = whole ? gemmLab<true> : gemmLab<false>;
  kernel<<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const float*>(p->a),
                                        static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
