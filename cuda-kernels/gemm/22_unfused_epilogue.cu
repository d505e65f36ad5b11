// @rung    22_unfused_epilogue
// @title   Bias and ReLU in a second kernel
// @after   12_rasterized
// @idea    a bias and an activation usually follow a GEMM. Here, a second kernel applies the bias and ReLU, so it reads and rewrites all of C. This costs as much as a library's GEMM plus a framework's elementwise kernel
// @expect  dramBytes up, l2Bytes up, sharedLoads same, registersPerThread same
// @param   BK 16 {8,16,32}
// @param   STAGES 3 {2,3,4}
// @param   GROUP 8 {1,2,4,8,16,32}
// @param   SNAKE 1 {0,1}
// @dtype   f32
// @epilogue bias relu
// @requires sm_80

#include "async_tiles.cuh"

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
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
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

  Tiles tiles(row0, col0, m, n, k, k, a, b);
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

  klStoreTile<kWhole, !kWhole>(c, m, n, row0 + row, 4 * kLanesM, col0 + col, 4 * kLanesN, sum, alpha, beta);
}

// A warp processes kWidth * 32 adjacent elements of a row, then the same columns kWarps rows below. Each bias value is
// read once, and all rows of a thread are loaded before the first one is written.
constexpr int kWarps = 8, kRows = 4;  // warps per block, rows per thread

template <int kWidth>
struct alignas(kWidth * sizeof(float)) Neighbours {
  float of[kWidth];
};

// Updates C in place. With kWidth 4, n is a multiple of 4, and C and bias are 16-byte aligned.
template <int kWidth>
__global__ void __launch_bounds__(kWarps * 32)
addBiasActivate(int m, int n, const float* __restrict__ bias, float least, float* c) {
  const int blocksN = ceilDiv(n, 32 * kWidth);
  const int col = (blockIdx.x % blocksN * 32 + threadIdx.x % 32) * kWidth;
  const int row = blockIdx.x / blocksN * (kWarps * kRows) + threadIdx.x / 32;
  if (col >= n) return;

  using Part = Neighbours<kWidth>;
  Part add = {};
  if (bias) add = *reinterpret_cast<const Part*>(bias + col);
  float* from = c + (long long)row * n + col;
  const long long step = (long long)kWarps * n;

  Part values[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i)
    if (row + i * kWarps < m) values[i] = *reinterpret_cast<const Part*>(from + i * step);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (row + i * kWarps >= m) break;
#pragma unroll
    for (int l = 0; l < kWidth; ++l) values[i].of[l] = klAtLeast(values[i].of[l] + add.of[l], least);
    *reinterpret_cast<Part*>(from + i * step) = values[i];
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) {
  if (p->activation != KL_NONE && p->activation != KL_RELU) return "it knows no activation but ReLU";
  return klRequireStages(p, sm, kSharedBytes);
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n);
  // One grid dimension suffices: any C that fits into memory has fewer than 2^31 tiles.
  const dim3 grid(ceilDiv(m, BM) * ceilDiv(n, BN));
  const auto kernel = klTilesWhole<BM, BN, BK>(p) ? gemm<true> : gemm<false>;
  const cudaError_t status = klLaunch(kernel, grid, kThreads, p, stream, kSharedBytes);
  if (status != cudaSuccess || (!p->bias && p->activation == KL_NONE)) return status;

  const bool wide = n % 4 == 0 && klAligned16(p->c) && klAligned16(p->bias);
  const dim3 finishGrid(ceilDiv(n, wide ? 128 : 32) * ceilDiv(m, kWarps * kRows));
  const auto finish = wide ? addBiasActivate<4> : addBiasActivate<1>;
  finish<<<finishGrid, kWarps * 32, 0, stream>>>(m, n, p->bias, klLeast(p), p->c);
  return cudaGetLastError();
}
