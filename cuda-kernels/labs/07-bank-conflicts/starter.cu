// @rung    07-bank-conflicts
// @title   Lab 7: bank conflicts
// @after   20_transposed_conflicts
// @idea    eight lanes copy eight adjacent elements of a row of A and store them transposed, each in a different row of the tile
// @dtype   f32

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int BM = 128, BN = 128, BK = 8;  // block tile of C, and its depth in K
constexpr int TM = 8, TN = 8;              // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / BK;         // rows of the A tile that the block copies in one pass
constexpr int kCopiesA = BM / kRowsA;
constexpr int kGroupStride = BN / (TN / 4);   // distance between two column groups of a thread

// aIndex() returns the index of row r, column d of the tile of A in shared memory. The tile is transposed:
// a column of A is contiguous, so one load reads four rows. If r is a multiple of 4, its index must therefore
// be a multiple of 4, and the indices of rows r + 1 to r + 3 must follow it.
// TODO: the eight lanes that copy a row of A write d = 0 to 7 of the same r. Which banks do these writes use?
//       Change the layout so that a warp's 32 stores (8 values of d, 4 of r) use 32 different banks:
//       first with a few extra floats per row, then without any extra memory.
constexpr int kFloatsA = BK * BM;
__device__ inline int aIndex(int d, int r) { return d * BM + r; }

// Returns row[i] to row[i + 3], with zeros beyond `length`. If kAligned, the row is 16-byte aligned and its
// length is a multiple of 4, so one access loads all four floats.
template <bool kAligned>
__device__ float4 loadFloats(const float* row, int i, int length) {
  if (kAligned) return i < length ? *reinterpret_cast<const float4*>(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

// Two blocks per SM, so one computes while the other waits for its tiles. Without alignment, a single block
// per SM can use more registers.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads, kAligned ? 2 : 1)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[kFloatsA];
  __shared__ __align__(16) float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Eight lanes copy eight adjacent elements of a row of A, so a warp copies four rows at a time. For B,
  // each thread copies four adjacent elements.
  const int aCol = threadIdx.x % 8, aRow = threadIdx.x / 8;
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);

  // Beyond M, the last row is copied. Beyond N, the aligned path copies the last four columns. Out-of-range
  // results are never stored.
  const float* aRows[kCopiesA];
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    aRows[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Elements that a thread computes: eight rows, and two groups of four columns.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * 4;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    float aOne[kCopiesA];
    float4 bFour;
    if (kAligned && t + BK <= k) {  // a full step of K, without checks
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) aOne[i] = aRows[i][aCol + t];
      bFour = *reinterpret_cast<const float4*>(bNext + bFrom);
    } else {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) aOne[i] = aCol + t < k ? aRows[i][aCol + t] : 0.0f;
      bFour = loadFloats<kAligned>(bNext, bFrom, t + bRow < k ? n : 0);
    }
    bNext += (long long)BK * n;

#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) aTile[aIndex(aCol, aRow + i * kRowsA)] = aOne[i];
    *reinterpret_cast<float4*>(&bTile[bRow][bCol]) = bFour;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&aValues[i]) =
            *reinterpret_cast<const float4*>(&aTile[aIndex(d, row + i)]);
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

  // 128-bit accesses require that every row starts at a 16-byte aligned address.
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned = k % 4 == 0 && n % 4 == 0 &&
                       (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = aligned ? gemmLab<true> : gemmLab<false>;
  kernel<<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const float*>(p->a),
                                        static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
