// @rung    35_float4_prefetch
// @title   Prefetch into a second tile
// @after   06_float4
// @idea    shared memory holds two stages of tiles. While a block computes on one stage, the next tile moves from global memory through registers into the other. Prefetching hides the latency and leaves one barrier per tile
// @expect  sharedLoads same, fmaUtilization up
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 8 {8,16}
// @param   TM 8 {4,8}
// @param   TN 8 {4,8}
// @dtype   f32

#include "thread_tile.cuh"

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / 2;         // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / (BN / 4);  // rows of the B tile that the block copies in one pass
constexpr int kGroupStride = BN / (TN / 4);  // distance between two column groups of a thread

static_assert(BM % TM == 0, "BM must be a multiple of TM");
static_assert(BN % TN == 0, "BN must be a multiple of TN");
static_assert(BK % 4 == 0 && TM % 4 == 0 && TN % 4 == 0,
              "BK, TM and TN must be multiples of 4: the floats of a 128-bit access");
static_assert(kThreads <= 1024, "(BM / TM) * (BN / TN) must be at most 1024, the limit of threads per block");
static_assert(kThreads % 32 == 0, "(BM / TM) * (BN / TN) must be a multiple of 32, the warp size");
static_assert(BK % 8 == 0, "BK must be a multiple of 8: two threads copy eight adjacent elements of a row of A");
static_assert(kRowsA <= BM && BM % kRowsA == 0,
              "2 * BM must be a multiple of the (BM / TM) * (BN / TN) threads that copy the A tile: "
              "increase TM or TN");
static_assert(kThreads % (BN / 4) == 0 && kRowsB <= BK && BK % kRowsB == 0,
              "BK * BN / 4 must be a multiple of the (BM / TM) * (BN / TN) threads that copy the B "
              "tile, which must cover whole rows of it: increase BK");

// An SM holds two blocks of 256 threads, so one computes while the other waits at its barrier. With a BK of 16, two
// blocks would not have enough registers.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads, kThreads == 256 && BK == 8 ? 2 : 1)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  constexpr int kPassesA = BM / kRowsA, kCopiesA = kPassesA * (BK / 8), kCopiesB = BK / kRowsB;
  __shared__ __align__(16) float aTile[2][BK][BM];  // transposed: a column of A is a row here
  __shared__ __align__(16) float bTile[2][BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // The four elements that a thread copies. For any BK, two lanes copy eight columns of A, which fill a sector.
  const int aCol = threadIdx.x % 2 * 4, aRow = threadIdx.x / 2;
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);
  // Past M or N, the last row or column is copied. Out-of-range results are never stored, so the loop checks only K.
  const float* aRows[kPassesA];
#pragma unroll
  for (int i = 0; i < kPassesA; ++i)
    aRows[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Loads the tile at t from global memory into registers. Only store() waits for the loads.
  float4 aFour[kCopiesA], bFour[kCopiesB];
  const auto fetch = [&](int t) {
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
  };
  const auto store = [&](int stage) {
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) {
      const int r = aRow + i % kPassesA * kRowsA, d = aCol + i / kPassesA * 8;
      aTile[stage][d + 0][r] = aFour[i].x;
      aTile[stage][d + 1][r] = aFour[i].y;
      aTile[stage][d + 2][r] = aFour[i].z;
      aTile[stage][d + 3][r] = aFour[i].w;
    }
#pragma unroll
    for (int i = 0; i < kCopiesB; ++i)
      *reinterpret_cast<float4*>(&bTile[stage][bRow + i * kRowsB][bCol]) = bFour[i];
  };

  // Elements that a thread computes: TM consecutive rows, and columns in groups of four that are kGroupStride apart.
  // The reads of neighboring threads are then adjacent.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * 4;
  float sum[TM][TN] = {};

  fetch(0);
  store(0);
  __syncthreads();

  int stage = 0;
  for (int t = 0; t < k; t += BK) {
    const bool more = t + BK < k;  // equal in all threads of the grid
    if (more) fetch(t + BK);

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
      klReadFours(aValues, &aTile[stage][d][row], 4);
      klReadFours(bValues, &bTile[stage][d][col], kGroupStride);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }

    // The stage written here was last read before the previous barrier. The stage is read after the next barrier.
    stage ^= 1;
    if (more) store(stage);
    __syncthreads();
  }

  klStoreTile<kAligned, true>(c, m, n, row0 + row, 4, col0 + col, kGroupStride, sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  // Without alignment, the same kernel accesses global memory element by element. Shared memory is still read four
  // elements at a time.
  const auto kernel = klRowsAligned(p) ? gemm<true> : gemm<false>;
  return klLaunch(kernel, klColumnsFirst<BM, BN>(p), kThreads, p, stream);
}
