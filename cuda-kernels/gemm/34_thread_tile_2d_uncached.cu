// @rung    34_thread_tile_2d_uncached
// @title   2D thread tile without named registers
// @after   04_thread_tile_1d
// @idea    each thread computes a TM x TN tile. In the source, every FMA reads both operands from shared memory. The compiler keeps the reused values in registers, so this rung is a first step to two-dimensional tiles
// @expect  sharedLoads down, fmaUtilization up, registersPerThread up, achievedOccupancy down
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 8 {8,16}
// @param   TM 8 {4,8}
// @param   TN 8 {4,8}
// @param   REREAD 0 {0,1}
// @dtype   f32

// nvcc detects that nothing writes to the tiles between two reads, so it reads each operand once, as the
// next rung does explicitly. With REREAD, the compiler must execute the code as written: two reads per
// FMA.

#include "thread_tile.cuh"

#if REREAD
using Operand = volatile float;
#else
using Operand = const float;
#endif

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / BN;  // rows of the B tile that the block copies in one pass

static_assert(BM % TM == 0, "BM must be a multiple of TM");
static_assert(BN % TN == 0, "BN must be a multiple of TN");
static_assert(kThreads <= 1024, "(BM / TM) * (BN / TN) must be at most 1024, the limit of threads per block");
static_assert(kThreads % 32 == 0, "(BM / TM) * (BN / TN) must be a multiple of 32, the warp size");
static_assert(kThreads % BK == 0 && BM % kRowsA == 0,
              "BM * BK must be a multiple of the (BM / TM) * (BN / TN) threads that copy the A tile: "
              "increase BK");
static_assert(kThreads % BN == 0 && BK % kRowsB == 0,
              "BK * BN must be a multiple of the (BM / TM) * (BN / TN) threads that copy the B tile, "
              "which must cover whole rows of it: increase BK");

// An SM holds two blocks of 256 threads, so one computes while the other waits for its tiles. With a BK of 16, two
// blocks would not have enough registers.
__global__ void __launch_bounds__(kThreads, kThreads == 256 && BK == 8 ? 2 : 1)
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

  // First row and column of the elements that a thread computes.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * TN;
  Operand (*aOperands)[BK] = aTile, (*bOperands)[BN] = bTile;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    // klCopyTile compiles this copy twice. `whole` is true for tiles inside K, which need no checks.
    klCopyTile(t + BK <= k, [&](auto whole) {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i)
        aTile[aRow + i * kRowsA][aCol] = whole || t + aCol < k ? *aNext[i] : 0.0f;
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i) {
        const int r = bRow + i * kRowsB;
        bTile[r][bCol] = whole || t + r < k ? bNext[(long long)(i * kRowsB) * n] : 0.0f;
      }
    });
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) aNext[i] += BK;
    bNext += (long long)BK * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d)
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aOperands[row + i][d] * bOperands[d][col + j];
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  klStoreTile<false, true>(c, m, n, row0 + row, 4, col0 + col, 4, sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<BM, BN>(p), kThreads, p, stream);
}
