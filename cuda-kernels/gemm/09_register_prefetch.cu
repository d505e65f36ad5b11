// @rung    09_register_prefetch
// @title   Software pipelining
// @after   08_warp_tile
// @idea    the next tile is loaded into registers before the current tile is computed. The loaded tile is then stored in a second shared buffer. Double buffering hides the global memory latency and removes the second barrier
// @expect  fmaUtilization up, sharedLoads same, registersPerThread up, achievedOccupancy same
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 8 {8,16}
// @param   WM 64 {32,64}
// @param   WN 32 {32,64}
// @param   SNAKE 1 {0,1}
// @dtype   f32

// Two pipelines are nested. Tiles go from global memory through registers to the other shared buffer. Each step's
// values go from shared memory to the other register set. One barrier per tile remains. A buffer is overwritten only after the barrier
// that follows its last read.

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

// kWhole: m, n and k are multiples of the tile, and every row is 16-byte aligned. Without bounds checks, more registers
// are free for data in flight.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads, kWhole ? kBlocksWanted : 1)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  constexpr int kPassesA = BM / kRowsA, kCopiesA = kPassesA * (BK / 8), kCopiesB = BK / kRowsB;
  __shared__ __align__(16) float aTile[2][BK][BM + 4];  // transposed: a column of A is a row here
  __shared__ __align__(16) float bTile[2][BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // The four elements that a thread copies. For any BK, two lanes copy eight columns of A, which fill a sector.
  // The padding keeps the eight rows of the transposed tile in different banks.
  const int aCol = threadIdx.x % 2 * 4, aRow = threadIdx.x / 2;
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);

  const float* aNext[kPassesA];
#pragma unroll
  for (int i = 0; i < kPassesA; ++i) {
    const int r = row0 + aRow + i * kRowsA;
    aNext[i] = a + (long long)(kWhole ? r : min(r, m - 1)) * k + aCol;
  }
  const float* bNext = b + (long long)bRow * n + col0 + bCol;

  // Elements that a thread computes: groups of 4 x 4, spaced so that the groups of the other lanes fit in between.
  // Lanes 2i and 2i + 1 read the same elements of B. Among 2 * kLanesN consecutive lanes, those of equal parity read
  // the same elements of A. A warp's 128-bit load therefore takes two passes instead of four.
  // With kLanesN = 4, for example, lanes 0 to 7 have row groups 0 1 0 1 0 1 0 1 and column groups 0 0 1 1 2 2 3 3.
  // Lanes 8 to 15 have the next two row groups.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;
  float sum[TM][TN] = {};

  float4 aFour[kCopiesA], bFour[kCopiesB];
  const auto loadTile = [&](int t) {
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) {
      const int d = i / kPassesA * 8;
      const float* from = aNext[i % kPassesA] + d;
      aFour[i] = kWhole ? klFour(from) : klFourLeft(from, k - t - aCol - d);
    }
#pragma unroll
    for (int i = 0; i < kCopiesB; ++i) {
      const float* from = bNext + (long long)(i * kRowsB) * n;
      bFour[i] = kWhole ? klFour(from)
                        : klFourLeft(from, t + bRow + i * kRowsB < k ? n - col0 - bCol : 0);
    }
#pragma unroll
    for (int i = 0; i < kPassesA; ++i) aNext[i] += BK;
    bNext += (long long)BK * n;
  };
  const auto storeTile = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) {
      const int r = aRow + i % kPassesA * kRowsA, d = aCol + i / kPassesA * 8;
      aTile[buffer][d + 0][r] = aFour[i].x;
      aTile[buffer][d + 1][r] = aFour[i].y;
      aTile[buffer][d + 2][r] = aFour[i].z;
      aTile[buffer][d + 3][r] = aFour[i].w;
    }
#pragma unroll
    for (int i = 0; i < kCopiesB; ++i)
      *reinterpret_cast<float4*>(&bTile[buffer][bRow + i * kRowsB][bCol]) = bFour[i];
  };

  float aValues[2][TM], bValues[2][TN];  // operands of this step and of the next step
  const auto readStep = [&](int values, int buffer, int d) {
    klReadFours(aValues[values], &aTile[buffer][d][row], 4 * kLanesM);
    klReadFours(bValues[values], &bTile[buffer][d][col], 4 * kLanesN);
  };

  loadTile(0);
  storeTile(0);
  __syncthreads();
  readStep(0, 0, 0);

  int buffer = 0;
  for (int t = 0; t < k; t += BK, buffer ^= 1) {
    // After the last tile, only the tile load is skipped. The remaining stores and reads are useless, but a branch
    // would split the unrolled steps into parts that the compiler cannot schedule across.
    if (t + BK < k) loadTile(t + BK);
#pragma unroll
    for (int d = 0; d < BK; ++d) {
      if (d < BK - 1) {
        readStep((d + 1) % 2, buffer, d + 1);
        if (d == BK / 2) storeTile(buffer ^ 1);  // the load has finished by now, long before the barrier
      } else {  // this tile has been read: switch to the next one
        __syncthreads();
        readStep(0, buffer ^ 1, 0);
      }
      klOuterProduct<SNAKE>(sum, aValues[d % 2], bValues[d % 2]);
    }
  }

  klStoreTile<kWhole, !kWhole>(c, m, n, row0 + row, 4 * kLanesM, col0 + col, 4 * kLanesN, sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const auto kernel = klTilesWhole<BM, BN, BK>(p) ? gemm<true> : gemm<false>;
  return klLaunch(kernel, klColumnsFirst<BM, BN>(p), kThreads, p, stream);
}
