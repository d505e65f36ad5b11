// @rung    06_float4
// @title   128-bit access
// @after   05_thread_tile_2d
// @idea    global memory is accessed four floats at a time. A is transposed on its way into shared memory, so each thread's values for a step are adjacent. A thread's columns are split into groups of four, so its loads of B have no bank conflicts. The transposed stores of A have bank conflicts
// @expect  sharedLoads same, fmaUtilization up, sharedLoadBankConflicts down, sharedStoreBankConflicts up
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 8 {8,16}
// @param   TM 8 {4,8}
// @param   TN 8 {4,8}
// @dtype   f32

// The number of shared loads hardly changes, because in the previous rung the compiler already merged a thread's
// adjacent reads into 128-bit loads. The bank conflicts of the loads of B disappear.

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

// An SM holds at least 512 threads, so one block computes while another waits for its tiles.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads, kThreads < 512 ? 512 / kThreads : 1)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  constexpr int kPassesA = BM / kRowsA, kCopiesA = kPassesA * (BK / 8), kCopiesB = BK / kRowsB;
  __shared__ __align__(16) float aTile[BK][BM];  // transposed: a column of A is a row here
  __shared__ __align__(16) float bTile[BK][BN];

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

  // Elements that a thread computes: TM consecutive rows, and columns in groups of four that are
  // kGroupStride apart. The groups of neighboring threads are adjacent, so their 128-bit reads of B
  // use different banks. With eight consecutive columns, each of these reads would be a two-way
  // conflict.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * 4;
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
      klReadFours(aValues, &aTile[d][row], 4);
      klReadFours(bValues, &bTile[d][col], kGroupStride);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
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
