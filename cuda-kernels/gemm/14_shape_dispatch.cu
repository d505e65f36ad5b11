// @rung    14_shape_dispatch
// @title   Fastest kernel for each shape
// @after   13_split_k
// @idea    the previous rungs are fastest at different sizes. The launch function estimates the time of every combination of block shape and K split, and runs the fastest
// @expect  fmaUtilization same
// @dtype   f32
// @requires sm_80

// Chooses among three kernels. Sizes such as 4096 and 1024 mean m = n = k, on an H200 with 132 SMs:
// - Wide, 128 x 256 in tiles of 16 along K, from rungs 11 to 13. Wide is fastest at 2048, where 128 blocks are one
//   wave, and at 4096. At sizes such as 1024, the tiles alone would leave SMs idle. Slices of K then use these SMs.
// - Large, the same block in tiles of 32, with half the barriers. Large is 1 to 3% faster than Wide at 8192 and a tenth
//   slower at 2048. At 4096, Large was 4% faster or slower in different sessions on the same GPU model.
// - Square, 128 x 128 with two blocks per SM, from rung 10. Square is fastest if the wider block would extend past the
//   edge of C or if its tiles fill the SMs badly, as at 512.
// planOf() estimates the time of each kernel for every split of K. The 64 x 64 block of sliced-K is not included,
// although it is faster if C is small: at 512 x 1024 x 512, and at ragged sizes up to 1023.

#include "split_k.cuh"

#include <cmath>

// The shape of a block: BM x BN elements, in warps of WM x WN and threads of TM x TN. K is split into tiles of BK.
// STAGES tiles are in shared memory, and kBlocks blocks fit on an SM.
template <int BM_, int BN_, int WM_, int WN_, int TM_, int TN_, int BK_, int STAGES_,
          int kBlocks_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, WM = WM_, WN = WN_, TM = TM_, TN = TN_;
  static constexpr int BK = BK_, STAGES = STAGES_, kBlocks = kBlocks_;
  static constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN;  // lanes of a warp along N and along M
  static constexpr int kWarpsN = BN / WN;
  static constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
  static constexpr int kStrideA = BM + 4, kStrideB = BN;
  static constexpr int kStageFloats = BK * (kStrideA + kStrideB);
  static constexpr int kSharedBytes = STAGES * kStageFloats * int(sizeof(float));
  static_assert(kLanesM * TM == WM, "the 32 lanes of a warp must cover the warp tile");
  static_assert(BK % 8 == 0, "BK must be a multiple of 8: eight lanes copy eight adjacent elements of a row of A");
  static_assert(STAGES >= 2, "STAGES must be at least 2: one tile is computed while another arrives");
};
using Large = Shape<128, 256, 64, 64, 16, 8, 32, 2, 1>;
using Wide = Shape<128, 256, 64, 64, 16, 8, 16, 3, 1>;
using Square = Shape<128, 128, 64, 32, 8, 8, 8, 4, 2>;

template <typename S, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, kWhole ? S::kBlocks : 1)
gemm(int m, int n, int k, int kSlice, float alpha, const float* __restrict__ a,
     const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int BM = S::BM, BN = S::BN, BK = S::BK, WM = S::WM, WN = S::WN, TM = S::TM, TN = S::TN;
  constexpr int STAGES = S::STAGES, kLanesM = S::kLanesM, kLanesN = S::kLanesN, kWarpsN = S::kWarpsN;
  constexpr int kStrideA = S::kStrideA, kStrideB = S::kStrideB, kStageFloats = S::kStageFloats;
  constexpr int GROUP = 8, SNAKE = 1;
  using Tiles = AsyncTiles<BM, BN, BK, S::kThreads, kWhole>;
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

// A block shape and the slices of K. `length` is a multiple of 16, and no slice is empty.
struct Plan {
  enum { kLarge, kWide, kSquare } shape;
  int slices, length;
};

// Returns the plan with the shortest estimated time, in SM cycles:
// - A step along K takes as many cycles as a block's FMAs divided by 128 lanes. The lanes are busy for 80 % of the time
//   in a 128 x 256 block, and for 77 % in two 128 x 128 blocks.
// - Blocks run in waves that fill the SMs. The last wave costs as much as a full one. A pair of Square blocks on an SM
//   counts as 2 block times, but a single one as 1.2.
// - A block computes little when it starts and ends. These phases cost 12 steps per block and 2500 cycles per wave.
// - Slices of K cost 5000 cycles for a second launch, and the traffic of the partial results to L2 and back, at 16
//   bytes per cycle and SM.
Plan planOf(const KlGemm* p) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const int sms = klSmCount();

  Plan best = {};
  double least = INFINITY;
  const auto weigh = [&](auto shape, bool square) {
    using S = decltype(shape);
    const double tiles = double(ceilDiv(m, S::BM)) * ceilDiv(n, S::BN);
    const double stepCycles = S::BM * S::BN / 128.0 / (square ? 0.77 : 0.80);
    const double atOnce = double(sms) * S::kBlocks, alone = square ? 1.2 : 1;
    int last = 0;  // slice length of the previous iteration
    for (int slices = 1; slices <= 128; ++slices) {
      const int length = ceilDiv(ceilDiv(k, slices), 16) * 16;
      if (length == last) continue;
      last = length;
      const int cut = ceilDiv(k, length);
      const double blocks = tiles * cut;
      const double full = std::floor(blocks / atOnce), rest = blocks - full * atOnce;
      const double waves = full * S::kBlocks + (rest == 0 ? 0 : rest <= sms ? alone : S::kBlocks);
      double cycles = waves * stepCycles * (length + 12) + 2500 * std::ceil(blocks / atOnce);
      if (cut > 1) cycles += 5000 + (2.0 * cut + 1) * m * n * sizeof(float) / (16.0 * sms);
      if (cycles < least) {
        least = cycles;
        best = {square ? Plan::kSquare : Plan::kWide, cut, length};
      }
    }
  };
  weigh(Wide(), false);
  weigh(Square(), true);

  // Large is Wide with fewer barriers but slower starts, so it is faster with many waves of blocks.
  const bool manyWaves = (long long)ceilDiv(m, Wide::BM) * ceilDiv(n, Wide::BN) >= 8LL * sms;
  if (best.shape == Plan::kWide && best.slices == 1 && manyWaves) best.shape = Plan::kLarge;
  return best;
}

template <typename S>
cudaError_t launch(const KlGemm* p, const Plan& plan, cudaStream_t stream) {
  // One grid dimension suffices: any C that fits into memory has fewer than 2^31 tiles.
  const int tiles = ceilDiv(int(p->m), S::BM) * ceilDiv(int(p->n), S::BN);
  const bool whole = klTilesWhole<S::BM, S::BN, S::BK>(p) && (plan.slices == 1 || klAligned16(p->workspace));
  const auto kernel = whole ? gemm<S, true> : gemm<S, false>;
  return klLaunchSlices(kernel, tiles, plan.slices, plan.length, S::kThreads, S::kSharedBytes, p, stream);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" size_t kl_workspace_bytes(const KlGemm* p) { return klPartialBytes(p, planOf(p).slices); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const Plan plan = planOf(p);
  switch (plan.shape) {
    case Plan::kLarge: return launch<Large>(p, plan, stream);
    case Plan::kWide: return launch<Wide>(p, plan, stream);
    default: return launch<Square>(p, plan, stream);
  }
}
