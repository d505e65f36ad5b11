// @rung    04_thread_tile_1d
// @title   1D thread tile
// @after   03_shared_tile
// @idea    each thread computes TM rows of one column. An element of B read from shared memory is used for TM FMAs instead of one
// @expect  sharedLoads down, fmaUtilization up
// @param   BM 64 {32,64,128}
// @param   BN 64 {32,64,128}
// @param   BK 8 {8,16}
// @param   TM 8 {4,8,16}
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int kThreads = BM / TM * BN;
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / BN;  // rows of the B tile that the block copies in one pass

static_assert(BM % TM == 0, "BM must be a multiple of TM: a thread computes TM whole rows of the tile");
static_assert(kThreads <= 1024, "BM / TM * BN must be at most 1024, the limit of threads per block");
static_assert(kThreads % 32 == 0, "BM / TM * BN must be a multiple of 32, the warp size");
static_assert(kThreads % BK == 0 && BM % kRowsA == 0,
              "BM * BK must be a multiple of the BM / TM * BN threads that copy the A tile: "
              "increase BK");
static_assert(BK % kRowsB == 0,
              "BK * BN must be a multiple of the BM / TM * BN threads that copy the B tile: "
              "increase BK");

// Eight sums and the values to multiply fit in 32 registers, so threads can fill the SM. Only the large number of
// threads hides the latency of loading a tile. Sixteen sums would spill.
__global__ void __launch_bounds__(kThreads, TM <= 8 ? kThreadsPerSm / kThreads : 1)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  constexpr int kCopiesA = BM / kRowsA, kCopiesB = BK / kRowsB;
  __shared__ float aTile[BM][BK];
  __shared__ float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Elements that a thread copies. Neighboring threads copy from neighboring addresses.
  const int aCol = threadIdx.x % BK, aRow = threadIdx.x / BK;
  const int bCol = threadIdx.x % BN, bRow = threadIdx.x / BN;
  // Past M or N, the last row or column is copied. Out-of-range results are never stored, so the loop checks only K.
  const float* aNext[kCopiesA];
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    aNext[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k + aCol;
  const float* bNext = b + (long long)bRow * n + min(col0 + bCol, n - 1);

  // Elements that a thread computes. A warp spans 32 columns, so its reads of A are broadcasts.
  const int row = threadIdx.x / BN * TM, col = threadIdx.x % BN;
  float sum[TM] = {};

  for (int t = 0; t < k; t += BK) {
    const bool whole = t + BK <= k;  // equal in all threads of the grid
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i)
      aTile[aRow + i * kRowsA][aCol] = whole || t + aCol < k ? *aNext[i] : 0.0f;
#pragma unroll
    for (int i = 0; i < kCopiesB; ++i) {
      const int r = bRow + i * kRowsB;
      bTile[r][bCol] = whole || t + r < k ? bNext[(long long)(i * kRowsB) * n] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) aNext[i] += BK;
    bNext += (long long)BK * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      const float bValue = bTile[d][col];
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i] += aTile[row + i][d] * bValue;
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
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
  return klLaunch(gemm, klColumnsFirst<BM, BN>(p), kThreads, p, stream);
}
