// @rung    21_sliced_k
// @title   Sliced-K
// @after   10_cp_async
// @idea    if C is too small for many warps, the warps of a block also split each tile's steps along K. Each tile of C then has SLICES times as many warps, and their sums are added at the end
// @expect  achievedOccupancy up, fmaUtilization up, sharedLoads same
// @param   SLICES 4 {1,2,4}
// @param   STAGES 3 {2,3,4}
// @param   SNAKE 1 {0,1}
// @dtype   f32
// @requires sm_80

// A 64 x 64 block has work for only two warps of 64 x 32, so half of an SM's schedulers would be idle. Eight warps in
// four slices keep all schedulers busy. Each warp computes 8 of a tile's 32 steps.

#include "async_tiles.cuh"

constexpr int BM = 64, BN = 64, WM = 64, WN = 32, TM = 8, TN = 8;  // tile sizes of a block, a warp and a thread
constexpr int kSliceSteps = 8;  // steps of a tile per slice
constexpr int BK = kSliceSteps * SLICES;
constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN;  // lanes of a warp along N and along M
constexpr int kWarpsN = BN / WN;
constexpr int kSliceThreads = (BM / WM) * (BN / WN) * 32, kThreads = kSliceThreads * SLICES;

constexpr int kStrideA = BM + 4, kStrideB = BN;
constexpr int kStageFloats = BK * (kStrideA + kStrideB);
// The results of the slices overwrite the stages in shared memory.
constexpr int kStrideC = BN + 4;
constexpr int kSharedFloats = STAGES * kStageFloats > SLICES * BM * kStrideC ? STAGES * kStageFloats
                                                                              : SLICES * BM * kStrideC;
constexpr int kSharedBytes = kSharedFloats * int(sizeof(float));

static_assert(kLanesM * TM == WM, "the 32 lanes of a warp must cover the warp tile");
static_assert(STAGES >= 2, "STAGES must be at least 2: one tile is computed while another arrives");
static_assert(kSharedBytes <= 163 * 1024, "STAGES * SLICES * 8 * (BM + 4 + BN) * 4 bytes must fit into the "
                                          "163 KiB of an A100");

template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  using Tiles = AsyncTiles<BM, BN, BK, kThreads, kWhole>;
  extern __shared__ __align__(16) float stages[];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  Tiles tiles(row0, col0, m, n, k, k, a, b);
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) tiles.copyAll(stages + s * kStageFloats);

  // Elements that a thread computes: groups of 4 x 4, spaced so that the groups of the other lanes fit in between.
  // Lanes 2i and 2i + 1 read the same elements of B. Among 2 * kLanesN consecutive lanes, those of equal parity read
  // the same elements of A. A warp's 128-bit load therefore takes two passes instead of four.
  // With kLanesN = 4, for example, lanes 0 to 7 have row groups 0 1 0 1 0 1 0 1 and column groups 0 0 1 1 2 2 3 3.
  // Lanes 8 to 15 have the next two row groups.
  const int slice = threadIdx.x / kSliceThreads;
  const int warp = threadIdx.x % kSliceThreads / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;

  float sum[TM][TN] = {};
  float aValues[2][TM], bValues[2][TN];  // operands of this step and of the next step
  int readAt = row + slice * kSliceSteps * kStrideA;  // position in the current stage
  const int fromAToB = BK * kStrideA + slice * kSliceSteps * (kStrideB - kStrideA) + col - row;
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
    for (int d = 0; d < kSliceSteps; ++d) {
      if (d == kSliceSteps - 1) {  // this tile has been read: switch to the next one
        awaitCopies<STAGES - 2>();
        __syncthreads();
        readAt += kStageFloats;
        if (readAt >= STAGES * kStageFloats) readAt -= STAGES * kStageFloats;
      }
      readStep((d + 1) % 2, (d + 1) % kSliceSteps);

      // Copies the tile STAGES - 1 tiles ahead, and spreads the copy over the steps. The copy overwrites the stage that
      // was read before the last barrier.
      constexpr int kPerStep = ceilDiv(Tiles::kCopies, kSliceSteps - 1);
#pragma unroll
      for (int i = d * kPerStep; i < (d + 1) * kPerStep && i < Tiles::kCopies; ++i)
        tiles.copy(i, stages + writeAt);
      if (d == kSliceSteps - 2) {
        commitCopies();
        tiles.advance();
        writeAt += kStageFloats;
        if (writeAt == STAGES * kStageFloats) writeAt = 0;
      }

      klOuterProduct<SNAKE>(sum, aValues[d % 2], bValues[d % 2]);
    }
  }

  // Every slice stores its sums, then all threads add them in groups of four adjacent columns.
  awaitCopies<0>();
  __syncthreads();  // all threads have read the last tile
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int r = row + i / 4 * 4 * kLanesM + i % 4;
      *reinterpret_cast<float4*>(&stages[(slice * BM + r) * kStrideC + col + j * kLanesN]) =
          make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
    }
  __syncthreads();

#pragma unroll 4
  for (int at = threadIdx.x * 4; at < BM * BN; at += kThreads * 4) {
    const int r = at / BN, s = at % BN;
    if (!kWhole && row0 + r >= m) break;  // all later rows are outside C, too
    float4 total = *reinterpret_cast<const float4*>(&stages[r * kStrideC + s]);
#pragma unroll
    for (int i = 1; i < SLICES; ++i) {
      const float4 part = *reinterpret_cast<const float4*>(&stages[(i * BM + r) * kStrideC + s]);
      total.x += part.x;
      total.y += part.y;
      total.z += part.z;
      total.w += part.w;
    }
    float* to = c + (long long)(row0 + r) * n + col0 + s;
    if (kWhole) {
      klStore(reinterpret_cast<float4*>(to), total, alpha, beta);
    } else {
      const float parts[4] = {total.x, total.y, total.z, total.w};
#pragma unroll
      for (int l = 0; l < 4; ++l)
        if (col0 + s + l < n) klStore(&to[l], parts[l], alpha, beta);
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const auto kernel = klTilesWhole<BM, BN, BK>(p) ? gemm<true> : gemm<false>;
  return klLaunch(kernel, klColumnsFirst<BM, BN>(p), kThreads, p, stream, kSharedBytes);
}
