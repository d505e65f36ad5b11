// @rung    13_split_k
// @title   Split-K
// @after   12_rasterized
// @idea    if C has fewer tiles than the GPU has SMs, K is split into slices. Different blocks accumulate the slices in parallel, and a second kernel adds their partial sums
// @expect  sharedLoads same, registersPerThread same
// @param   BK 16 {8,16,32}
// @param   STAGES 3 {2,3,4}
// @param   GROUP 8 {1,2,4,8,16,32}
// @param   SPLITS 0 {0,1,2,3,4,8,16,20,32,64}
// @param   SNAKE 1 {0,1}
// @dtype   f32
// @requires sm_80

// SPLITS 0 uses enough slices to fill the SMs once, if each slice is long enough to be worth writing a partial result.
// With one slice, this kernel equals the previous rung. The sums are added in a fixed order, so the same input gives
// the same bits.

#include "split_k.cuh"

constexpr int BM = 128, BN = 256, WM = 64, WN = 64, TM = 16, TN = 8;  // tile sizes of a block, a warp and a thread
constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN;  // lanes of a warp along N and along M
constexpr int kWarpsN = BN / WN;
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;

constexpr int kStrideA = BM + 4, kStrideB = BN;
constexpr int kStageFloats = BK * (kStrideA + kStrideB);
constexpr int kSharedBytes = STAGES * kStageFloats * int(sizeof(float));

static_assert(kLanesM * TM == WM, "the 32 lanes of a warp must cover the warp tile");
static_assert(BK % 8 == 0, "BK must be a multiple of 8: eight lanes copy eight adjacent elements of a row of A");
static_assert(STAGES >= 2, "STAGES must be at least 2: one tile is computed while another arrives");
static_assert(kSharedBytes <= 163 * 1024,
              "STAGES * BK * (BM + 4 + BN) * 4 bytes must fit into the 163 KiB of an A100");

template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 1)
gemm(int m, int n, int k, int kSlice, float alpha, const float* __restrict__ a,
     const float* __restrict__ b, float beta, float* __restrict__ c) {
  using Tiles = AsyncTiles<BM, BN, BK, kThreads, kWhole>;
  extern __shared__ __align__(16) float stages[];

  // Blocks start in index order. The blocks process GROUP tiles of a column before they continue in the next column.
  // Concurrent blocks therefore cover a compact part of C.
  const int tilesM = ceilDiv(m, BM), tilesN = ceilDiv(n, BN);
  const int tilesInGroup = GROUP * tilesN;
  const int group = blockIdx.x / tilesInGroup, inGroup = blockIdx.x % tilesInGroup;
  const int rowsInGroup = min(GROUP, tilesM - group * GROUP);  // the last group can have fewer rows of tiles
  const int row0 = (group * GROUP + inGroup % rowsInGroup) * BM;
  const int col0 = inGroup / rowsInGroup * BN;

  // This block's slice of K: kHere columns of A from k0. The last slice can be shorter.
  const int k0 = blockIdx.y * kSlice, kHere = min(kSlice, k - k0);

  Tiles tiles(row0, col0, m, n, k, kHere, a + k0, b + (long long)k0 * n);
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) tiles.copyAll(stages + s * kStageFloats);

  // Elements that a thread computes: groups of 4 x 4, spaced so that the groups of the other lanes fit in between.
  // Lanes 2i and 2i + 1 read the same elements of B. Among 2 * kLanesN consecutive lanes, those of equal parity read
  // the same elements of A. A warp's 128-bit load therefore takes two passes instead of four.
  // With kLanesN = 4, for example, lanes 0 to 7 have row groups 0 1 0 1 0 1 0 1 and column groups 0 0 1 1 2 2 3 3.
  // Lanes 8 to 15 have the next two row groups.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;

  float sum[TM][TN] = {};
  float aValues[2][TM], bValues[2][TN];  // operands of this step and of the next step
  int readAt = row;                       // position in the current stage
  const int fromAToB = BK * kStrideA + col - row;
  const auto readStep = [&](int values, int d) {
    const float* aFrom = stages + readAt + d * kStrideA;
    const float* bFrom = stages + readAt + fromAToB + d * kStrideB;
    klReadFours(aValues[values], aFrom, 4 * kLanesM);
    klReadFours(bValues[values], bFrom, 4 * kLanesN);
  };

  awaitCopies<STAGES - 2>();
  __syncthreads();
  readStep(0, 0);

  int writeAt = (STAGES - 1) * kStageFloats;
  // Copies run STAGES - 1 tiles ahead, so kLeft falls below 0 before the last products.
  while (tiles.kLeft > -(STAGES - 1) * BK) {
#pragma unroll
    for (int d = 0; d < BK; ++d) {
      if (d == BK - 1) {  // this tile has been read: switch to the next one
        awaitCopies<STAGES - 2>();
        __syncthreads();
        readAt += kStageFloats;
        if (readAt >= STAGES * kStageFloats) readAt -= STAGES * kStageFloats;
      }
      readStep((d + 1) % 2, (d + 1) % BK);

      // Copies the tile STAGES - 1 tiles ahead, and spreads the copy over the steps. The copy overwrites the stage that
      // was read before the last barrier.
      constexpr int kPerStep = ceilDiv(Tiles::kCopies, BK - 1);
#pragma unroll
      for (int i = d * kPerStep; i < (d + 1) * kPerStep && i < Tiles::kCopies; ++i)
        tiles.copy(i, stages + writeAt);
      if (d == BK - 2) {
        commitCopies();
        tiles.advance();
        writeAt += kStageFloats;
        if (writeAt == STAGES * kStageFloats) writeAt = 0;
      }

      klOuterProduct<SNAKE>(sum, aValues[d % 2], bValues[d % 2]);
    }
  }

  c += (long long)blockIdx.y * m * n;  // each slice has its own matrix in the workspace

  klStoreTile<kWhole, !kWhole>(c, m, n, row0 + row, 4 * kLanesM, col0 + col, 4 * kLanesN, sum, alpha, beta);
}

// Number and length of the slices of K. A slice length is a multiple of BK, and no slice is empty.
struct Split {
  int slices, length;
};

Split splitOf(const KlGemm* p) {
  constexpr int kShortest = 128;  // along K: for a shorter slice, writing the partial result costs too much
  const int k = int(p->k);
  int slices = SPLITS;
  if (slices == 0) {
    const int sms = klSmCount();
    const long long tiles = (long long)ceilDiv(int(p->m), BM) * ceilDiv(int(p->n), BN);
    slices = int(std::min<long long>(sms / std::min<long long>(tiles, sms), std::max(k / kShortest, 1)));
  }
  const int length = ceilDiv(ceilDiv(k, slices), BK) * BK;
  return {ceilDiv(k, length), length};
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) {
  return klRequireStages(p, sm, kSharedBytes);
}

extern "C" size_t kl_workspace_bytes(const KlGemm* p) { return klPartialBytes(p, splitOf(p).slices); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  // One grid dimension suffices: any C that fits into memory has fewer than 2^31 tiles.
  const int tiles = ceilDiv(int(p->m), BM) * ceilDiv(int(p->n), BN);
  const Split split = splitOf(p);
  const bool whole = klTilesWhole<BM, BN, BK>(p) && (split.slices == 1 || klAligned16(p->workspace));
  const auto kernel = whole ? gemm<true> : gemm<false>;
  return klLaunchSlices(kernel, tiles, split.slices, split.length, kThreads, kSharedBytes, p, stream);
}
