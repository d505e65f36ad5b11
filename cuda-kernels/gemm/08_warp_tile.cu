// @rung    08_warp_tile
// @title   Warp tile
// @after   07_conflict_free
// @idea    a warp computes a compact WM x WN tile, so it loads only WM + WN floats per step. Each thread computes interleaved groups of four rows and columns, so every load by a warp reads one contiguous range
// @expect  sharedLoadWavefronts down, sharedLoads same, fmaUtilization up
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 8 {8,16,32}
// @param   WM 64 {32,64}
// @param   WN 32 {32,64}
// @param   SNAKE 1 {0,1}
// @dtype   f32

// In the previous rung, the 2 x 16 threads of a warp cover 16 x 128 elements and read 144 floats of A and B per step.
// The same 2048 elements as a 64 x 32 tile need 96 floats, and a load reads at most 128 contiguous bytes. With the lane
// order below, a load takes two passes through shared memory. The previous rung takes two passes for A and four for B.
// SNAKE is independent of the warp tile and changes the order of a thread's FMAs (see klOuterProduct()).

#include "thread_tile.cuh"

constexpr int TN = 8, TM = WM * WN / (32 * TN);           // columns and rows per thread
constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN;  // lanes of a warp along N and along M
constexpr int kWarpsN = BN / WN;
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kRowsA = kThreads / 2;         // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / (BN / 4);  // rows of the B tile that the block copies in one pass

static_assert(BM % WM == 0 && BN % WN == 0, "BM must be a multiple of WM, and BN of WN");
static_assert(BK % 8 == 0, "BK must be a multiple of 8: two threads copy eight adjacent elements of a row of A");
static_assert(kRowsA <= BM && BM % kRowsA == 0,
              "2 * BM must be a multiple of the (BM / WM) * (BN / WN) * 32 threads that copy the A tile: "
              "increase WM or WN");
static_assert(kThreads % (BN / 4) == 0 && kRowsB <= BK && BK % kRowsB == 0,
              "BK * BN / 4 must be a multiple of the (BM / WM) * (BN / WN) * 32 threads that copy the B "
              "tile, which must cover whole rows of it: increase BK");

// An SM holds at least 16 warps, or 8 if a thread computes 128 elements. One block then computes while another waits
// for its tiles.
constexpr int kThreadsWanted = TM * TN > 64 ? 256 : 512;
constexpr int kBlocksWanted = kThreads < kThreadsWanted ? kThreadsWanted / kThreads : 1;

template <bool kAligned>
__global__ void __launch_bounds__(kThreads, kBlocksWanted)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  constexpr int kPassesA = BM / kRowsA, kCopiesA = kPassesA * (BK / 8), kCopiesB = BK / kRowsB;
  __shared__ __align__(16) float aTile[BK][BM + 4];  // transposed: a column of A is a row here
  __shared__ __align__(16) float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // The four elements that a thread copies. For any BK, two lanes copy eight columns of A, which fill a sector.
  // The padding keeps the eight rows of the transposed tile in different banks.
  const int aCol = threadIdx.x % 2 * 4, aRow = threadIdx.x / 2;
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);

  // Past M or N, the last row or column is copied. Out-of-range results are never stored, so the loop checks only K.
  const float* aRows[kPassesA];
#pragma unroll
  for (int i = 0; i < kPassesA; ++i)
    aRows[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Elements that a thread computes: groups of 4 x 4, spaced so that the groups of the other lanes fit in between.
  // Lanes 2i and 2i + 1 read the same elements of B. Among 2 * kLanesN consecutive lanes, those of equal parity read
  // the same elements of A. A warp's 128-bit load therefore takes two passes instead of four.
  // With kLanesN = 4, for example, lanes 0 to 7 have row groups 0 1 0 1 0 1 0 1 and column groups 0 0 1 1 2 2 3 3.
  // Lanes 8 to 15 have the next two row groups.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    float4 aFour[kCopiesA], bFour[kCopiesB];
    // klCopyTile compiles this copy twice. `whole` is true for tiles inside K, which need no checks.
    klCopyTile(kAligned && t + BK <= k, [&](auto whole) {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i)
        aFour[i] = whole ? klFour(aRows[i % kPassesA] + aCol + i / kPassesA * 8 + t)
                         : klFourWithin<kAligned>(aRows[i % kPassesA], aCol + i / kPassesA * 8 + t, k);
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i)
        bFour[i] = whole ? klFour(bNext + (long long)(i * kRowsB) * n + bFrom)
                         : klFourWithin<kAligned>(bNext + (long long)(i * kRowsB) * n, bFrom,
                                                  t + bRow + i * kRowsB < k ? n : 0);
    });
    bNext += (long long)BK * n;

#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) {
      const int r = aRow + i % kPassesA * kRowsA, d = aCol + i / kPassesA * 8;
      aTile[d + 0][r] = aFour[i].x;
      aTile[d + 1][r] = aFour[i].y;
      aTile[d + 2][r] = aFour[i].z;
      aTile[d + 3][r] = aFour[i].w;
    }
#pragma unroll
    for (int i = 0; i < kCopiesB; ++i)
      *reinterpret_cast<float4*>(&bTile[bRow + i * kRowsB][bCol]) = bFour[i];
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
      klReadFours(aValues, &aTile[d][row], 4 * kLanesM);
      klReadFours(bValues, &bTile[d][col], 4 * kLanesN);
      klOuterProduct<SNAKE>(sum, aValues, bValues);
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  klStoreTile<kAligned, true>(c, m, n, row0 + row, 4 * kLanesM, col0 + col, 4 * kLanesN, sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  // Without alignment, the same kernel accesses global memory element by element. Shared memory is still read four
  // elements at a time.
  const auto kernel = klRowsAligned(p) ? gemm<true> : gemm<false>;
  return klLaunch(kernel, klColumnsFirst<BM, BN>(p), kThreads, p, stream);
}
