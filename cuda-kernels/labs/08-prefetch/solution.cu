// @rung    08-prefetch
// @title   Lab 8: prefetch
// @after   07_conflict_free
// @idea    the next tile is loaded into registers before the FMAs of the current tile and stored to a second buffer after them. The FMAs hide the load latency, and one barrier per tile is enough
// @expect  fmaUtilization up, sharedLoads same, registersPerThread up, achievedOccupancy same, stallLongScoreboard down
// @dtype   f32

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int BM = 128, BN = 128, BK = 8;  // block tile of C, and its depth in K
constexpr int TM = 8, TN = 8;              // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kGroupStride = BN / (TN / 4);  // distance between two column groups of a thread
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
__global__ void __launch_bounds__(kThreads, kAligned ? 2 : 1)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[2][BK][BM + 4];  // transposed, padded against bank conflicts
  __shared__ __align__(16) float bTile[2][BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // The four elements that a thread copies. Beyond M, the last row is copied. Beyond N, the aligned path
  // copies the last four columns. Out-of-range results are never stored.
  const int aCol = threadIdx.x % (BK / 4) * 4, aRow = threadIdx.x / (BK / 4);
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);
  const float* aSource = a + (long long)min(row0 + aRow, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Elements that a thread computes: eight rows, and two groups of four columns, half a tile apart. The
  // groups of neighboring threads are adjacent, so their 128-bit reads of B use different banks.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * 4;
  float sum[TM][TN] = {};

  // Loads the tile at t from global memory into registers. No thread waits for the data before storeTile().
  float4 aFour, bFour;
  const auto loadTile = [&](int t) {
    if (kAligned && t + BK <= k) {  // a full step of K, without checks
      aFour = *reinterpret_cast<const float4*>(aSource + aCol + t);
      bFour = *reinterpret_cast<const float4*>(bNext + bFrom);
    } else {
      aFour = loadFloats<kAligned>(aSource, aCol + t, k);
      bFour = loadFloats<kAligned>(bNext, bFrom, t + bRow < k ? n : 0);
    }
    bNext += (long long)BK * n;
  };
  const auto storeTile = [&](int stage) {
    aTile[stage][aCol + 0][aRow] = aFour.x;
    aTile[stage][aCol + 1][aRow] = aFour.y;
    aTile[stage][aCol + 2][aRow] = aFour.z;
    aTile[stage][aCol + 3][aRow] = aFour.w;
    *reinterpret_cast<float4*>(&bTile[stage][bRow][bCol]) = bFour;
  };

  loadTile(0);
  storeTile(0);
  __syncthreads();

  int stage = 0;
  for (int t = 0; t < k; t += BK) {
    const bool hasNext = t + BK < k;  // equal in all threads of the grid
    if (hasNext) loadTile(t + BK);

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&aValues[i]) =
            *reinterpret_cast<const float4*>(&aTile[stage][d][row + i]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&bValues[j]) =
            *reinterpret_cast<const float4*>(&bTile[stage][d][col + j / 4 * kGroupStride]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }

    // The other stage was last read before the previous round's barrier, so it can be overwritten here. The
    // barrier below precedes the next reads of that stage. One barrier per round is therefore enough.
    stage ^= 1;
    if (hasNext) storeTile(stage);
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
