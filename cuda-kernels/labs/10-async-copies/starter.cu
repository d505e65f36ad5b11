// @rung    10-async-copies
// @title   Lab 10: asynchronous copies
// @after   08_warp_tile
// @idea    tiles pass through registers, and no thread computes while a tile arrives
// @dtype   f32

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int BM = 128, BN = 128, BK = 8;  // block tile of C, and its depth in K
constexpr int WM = 64, WN = 32;            // warp tile of C
constexpr int TM = 8, TN = 8;              // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kWarpsN = BN / WN;                         // warps across the block tile
constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN; // arrangement of the lanes in the warp tile
static_assert(kLanesM * TM == WM && kThreads / 32 == BM / WM * kWarpsN, "32 lanes must cover the warp tile");
static_assert(kThreads * 4 == BM * BK && kThreads * 4 == BK * BN, "a thread copies four floats per tile");

// Returns row[i] to row[i + 3], with zeros beyond `length`. If kAligned, the row is 16-byte aligned and its
// length is a multiple of 4, so one access loads all four floats.
template <bool kAligned>
__device__ float4 loadFloats(const float* row, int i, int length) {
  if (kAligned) return i < length ? *reinterpret_cast<const float4*>(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

// Two blocks per SM, so one computes while the other waits for its tiles.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[BK][BM + 4];  // transposed, padded against bank conflicts
  __shared__ __align__(16) float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // The four elements that a thread copies. Beyond M, the last row is copied. Beyond N, the aligned path
  // copies the last four columns. Out-of-range results are never stored.
  const int aCol = threadIdx.x % (BK / 4) * 4, aRow = threadIdx.x / (BK / 4);
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);
  const float* aSource = a + (long long)min(row0 + aRow, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Elements that a thread computes: two groups of four rows by two groups of four columns. The groups of
  // other lanes separate a thread's two groups. The eight lanes of a quarter warp cover only two row groups
  // and four column groups, so a shared load reads few distinct floats.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    float4 aFour, bFour;
    if (kAligned && t + BK <= k) {  // a full step of K, without checks
      aFour = *reinterpret_cast<const float4*>(aSource + aCol + t);
      bFour = *reinterpret_cast<const float4*>(bNext + bFrom);
    } else {
      aFour = loadFloats<kAligned>(aSource, aCol + t, k);
      bFour = loadFloats<kAligned>(bNext, bFrom, t + bRow < k ? n : 0);
    }
    bNext += (long long)BK * n;

    // TODO: a tile goes from global memory into registers, and from registers into shared memory. Which
    //       instruction copies it directly? What can that instruction not do with the tile of A?
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
        *reinterpret_cast<float4*>(&aValues[i]) =
            *reinterpret_cast<const float4*>(&aTile[d][row + i * kLanesM]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&bValues[j]) =
            *reinterpret_cast<const float4*>(&bTile[d][col + j * kLanesN]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i / 4 * 4 * kLanesM + i % 4;
    if (r >= m) break;  // rows of a thread are in ascending order
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = col0 + col + j * kLanesN;
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

  // 128-bit accesses require that every row starts at a 16-byte aligned address.
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned = k % 4 == 0 && n % 4 == 0 &&
                       (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = aligned ? gemmLab<true> : gemmLab<false>;
  kernel<<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const float*>(p->a),
                                        static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
