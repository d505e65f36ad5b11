// @rung    23_fused_epilogue
// @title   Fused epilogue through shared memory
// @after   22_unfused_epilogue
// @idea    bias and ReLU are applied before the sums are stored. C is therefore written once and not read again, and one launch is saved. The sums go through shared memory to form whole rows. A thread always stores the same four columns, so it needs only four bias values
// @expect  dramBytes down, l2Bytes down, sharedStoreWavefronts up, registersPerThread up
// @param   BK 16 {8,16,32}
// @param   STAGES 3 {2,3,4}
// @param   GROUP 8 {1,2,4,8,16,32}
// @param   SNAKE 1 {0,1}
// @param   STAGED 1 {0,1}
// @dtype   f32
// @epilogue bias relu
// @requires sm_80

// Directly from the registers (STAGED 0), a warp's 128-bit store covers 128 bytes in each of four rows, which are
// already whole sectors. Through shared memory, a store covers 512 bytes of one row.

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

constexpr int kStrideC = BN + 4;              // row stride of the output tile, which reuses the stages' memory
constexpr int kPassRows = BM / (TM / 4);      // rows per pass: four rows per thread
constexpr int kStepRows = kThreads * 4 / BN;  // rows that all threads write together
static_assert(kThreads * 4 % BN == 0 && kPassRows % kStepRows == 0,
              "the threads of a block must cover whole rows of C, and whole steps must cover a pass");
static_assert(!STAGED || STAGES * kStageFloats >= kPassRows * kStrideC,
              "STAGES * BK * (BM + 4 + BN) must hold the 32 rows of C that are stored at a time");

struct Finish {
  float alpha, beta, least;  // least: the lower bound of a result, from klLeast
};

// Finishes and stores four adjacent elements of a row. `result` is already scaled by alpha. Adding the bias and
// clamping replace the second kernel of the previous rung.
__device__ inline void finishFour(float* c, float4 result, float4 bias, Finish by) {
  if (by.beta != 0.0f) {  // otherwise C may hold NaN
    const float4 old = *reinterpret_cast<const float4*>(c);
    result.x += by.beta * old.x;
    result.y += by.beta * old.y;
    result.z += by.beta * old.z;
    result.w += by.beta * old.w;
  }
  *reinterpret_cast<float4*>(c) =
      make_float4(klAtLeast(result.x + bias.x, by.least), klAtLeast(result.y + bias.y, by.least),
                  klAtLeast(result.z + bias.z, by.least), klAtLeast(result.w + bias.w, by.least));
}

__device__ inline void finishOne(float* c, float result, float bias, Finish by) {
  if (by.beta != 0.0f) result += by.beta * *c;
  *c = klAtLeast(result + bias, by.least);
}

template <bool kWhole>
__device__ inline void finish(float* c, int colsLeft, float4 result, float4 bias, Finish by) {
  if (kWhole) {
    finishFour(c, result, bias, by);
  } else {
    if (0 < colsLeft) finishOne(&c[0], result.x, bias.x, by);
    if (1 < colsLeft) finishOne(&c[1], result.y, bias.y, by);
    if (2 < colsLeft) finishOne(&c[2], result.z, bias.z, by);
    if (3 < colsLeft) finishOne(&c[3], result.w, bias.w, by);
  }
}

// Returns the bias of four columns. The bias is zero past N and without a bias vector.
template <bool kWhole>
__device__ inline float4 biasOf(const float* __restrict__ bias, int colsLeft) {
  if (!bias) return make_float4(0, 0, 0, 0);
  if (kWhole) return *reinterpret_cast<const float4*>(bias);
  return make_float4(0 < colsLeft ? bias[0] : 0, 1 < colsLeft ? bias[1] : 0, 2 < colsLeft ? bias[2] : 0,
                     3 < colsLeft ? bias[3] : 0);
}

__device__ inline float4 scaledFour(float alpha, const float* sum) {
  return make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 1)
gemm(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
     const float* __restrict__ bias, Finish by, float* __restrict__ c) {
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

  if (!STAGED) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = col0 + col + j * kLanesN;
      const float4 add = biasOf<kWhole>(bias ? bias + s : bias, n - s);
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const int r = row0 + row + i / 4 * 4 * kLanesM + i % 4;
        if (!kWhole && r >= m) break;  // all later rows are outside C, too
        finish<kWhole>(c + (long long)r * n + s, n - s, scaledFour(by.alpha, &sum[i][j]), add, by);
      }
    }
    return;
  }

  // Each pass handles four rows per thread, which are 32 whole rows of the block's tile. A thread writes the same four
  // columns of all rows. Alpha is applied first, because a 128-bit store needs four consecutive registers. If the sums
  // themselves had to be consecutive, the main loop's registers would be constrained. One FFMA in twenty would then
  // read three registers of one bank.
  const int s = col0 + threadIdx.x * 4 % BN;
  const float4 add = biasOf<kWhole>(bias ? bias + s : bias, n - s);
  awaitCopies<0>();
#pragma unroll
  for (int i = 0; i < TM; i += 4) {
    __syncthreads();  // all threads have read the last tile or the rows of the previous pass
    // The rows of a warp's tile in this pass are contiguous, below those of the preceding warps.
    float* in = stages + (row / WM * (4 * kLanesM) + row % WM) * kStrideC + col;
#pragma unroll
    for (int l = 0; l < 4; ++l)
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&in[l * kStrideC + j * kLanesN]) = scaledFour(by.alpha, &sum[i + l][j]);
    __syncthreads();

#pragma unroll
    for (int from = 0; from < kPassRows; from += kStepRows) {
      const int at = from + threadIdx.x * 4 / BN;  // row within the pass; `to` is the row within the tile
      const int to = at / (4 * kLanesM) * WM + i * kLanesM + at % (4 * kLanesM);
      const int r = row0 + to;
      if (!kWhole && r >= m) break;  // all later rows are outside C, too
      const float4 total = *reinterpret_cast<const float4*>(&stages[at * kStrideC + s - col0]);
      finish<kWhole>(c + (long long)r * n + s, n - s, total, add, by);
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) {
  if (p->activation != KL_NONE && p->activation != KL_RELU) return "it knows no activation but ReLU";
  return klRequireStages(p, sm, kSharedBytes);
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  // One grid dimension suffices: any C that fits into memory has fewer than 2^31 tiles.
  const dim3 grid(ceilDiv(m, BM) * ceilDiv(n, BN));

  const auto kernel = klTilesWhole<BM, BN, BK>(p) && klAligned16(p->bias) ? gemm<true> : gemm<false>;
  // A kernel must request more than 48 KiB of shared memory explicitly.
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  kernel<<<grid, kThreads, kSharedBytes, stream>>>(m, n, k, static_cast<const float*>(p->a),
                                                   static_cast<const float*>(p->b), p->bias,
                                                   Finish{p->alpha, p->beta, klLeast(p)}, p->c);
  return cudaGetLastError();
}
