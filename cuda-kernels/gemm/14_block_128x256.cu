// @rung    14_block_128x256
// @title   128 x 256 block, 16 x 8 thread
// @after   13_cp_async
// @idea    a thread computes 16 x 8 elements instead of 8 x 8: six 128-bit shared loads feed 128 FMAs where four fed 64, so fewer issue slots go to anything but FMAs
// @expect  sharedLoads down, sharedLoadWavefronts down, fmaUtilization up, registersPerThread up, achievedOccupancy down, theoreticalOccupancy down
// @param   BK 16 {8,16,32}
// @param   STAGES 3 {2,3,4}
// @param   SNAKE 1 {0,1}
// @dtype   f32
// @requires sm_80

// One block of eight warps is all that an SM holds: two warps a scheduler, and the independent FMAs of
// a thread to hide latency with. So every load is issued long before its use: from global memory
// STAGES - 1 tiles ahead, from shared memory a step ahead.

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int BM = 128, BN = 256, WM = 64, WN = 64, TM = 16, TN = 8;  // of a block, a warp, a thread
constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN;  // how a warp's lanes lie over its tile
constexpr int kWarpsN = BN / WN;
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;

// A lies transposed in shared memory. Eight lanes copy eight neighbors of a row of A into eight rows
// there, which the padding puts 4 banks apart, and the lanes' four rows of A fill the gaps.
constexpr int kStrideA = BM + 4, kStrideB = BN;
constexpr int kStageFloats = BK * (kStrideA + kStrideB);
constexpr int kSharedBytes = STAGES * kStageFloats * int(sizeof(float));

static_assert(kLanesM * TM == WM, "the 32 lanes of a warp must cover its tile");
static_assert(BK % 8 == 0, "BK must be a multiple of 8: eight lanes copy eight neighbours of a row of A");
static_assert(STAGES >= 2, "STAGES must be at least 2: one tile is computed while another arrives");
static_assert(kSharedBytes <= 163 * 1024,
              "STAGES * BK * (BM + 4 + BN) * 4 bytes must fit into the 163 KiB of an A100");

// Copies that proceed while the threads compute. If `valid` is false, zeros are written and nothing
// is read.
__device__ inline void copyFloatAsync(float* to, const float* from, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(uint32_t(__cvta_generic_to_shared(to))), "l"(from), "r"(valid ? 4 : 0));
}

// These do nothing if `wanted` is 0. They are predicated within the PTX, because a branch would
// cut the unrolled loop into pieces that the compiler cannot schedule across.
__device__ inline void copyFloatAsyncIf(int wanted, float* to, const float* from) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n"
               "@p cp.async.ca.shared.global [%0], [%1], 4; }"
               :: "r"(uint32_t(__cvta_generic_to_shared(to))), "l"(from), "r"(wanted));
}
__device__ inline void copyFourAsyncIf(int wanted, float* to, const float* from) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n"
               "@p cp.async.cg.shared.global [%0], [%1], 16; }"
               :: "r"(uint32_t(__cvta_generic_to_shared(to))), "l"(from), "r"(wanted));
}

__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;"); }

// Waits until all but the newest kPending groups of this thread's copies have arrived.
template <int kPending>
__device__ inline void awaitCopies() {
  asm volatile("cp.async.wait_group %0;" :: "n"(kPending) : "memory");
}

// What a thread copies of one tile after another along K.
// With kWhole m, n and k are multiples of the tile and every row is 16-byte aligned: B goes by copies
// of 16 bytes. Otherwise all copies are of 4 bytes, and zeros past the end of the matrix.
template <bool kWhole>
struct TileCopy {
  static constexpr int kWidthB = kWhole ? 4 : 1;
  static constexpr int kRowsA = kThreads / 8;                // rows of the A tile in one pass
  static constexpr int kColsB = kThreads / BK * kWidthB;     // columns of the B tile in one pass
  static constexpr int kPassesA = BM / kRowsA, kCopiesA = kPassesA * (BK / 8);
  static constexpr int kPassesB = BN / kColsB;
  static constexpr int kCopies = kCopiesA + kPassesB;
  static_assert(BM % kRowsA == 0 && kThreads % BK == 0 && BN % kColsB == 0,
                "the threads of a block must cover both tiles in whole passes");

  const float* aNext[kPassesA];
  const float* bNext;
  int n;
  int aTo, bTo;    // where in a stage the first element of A and of B goes
  int aCol, bRow;  // for the checks at the matrix's end
  int colsLeft, colsNow, kLeft;  // colsNow is 0 where the row of B lies beyond K

  __device__ TileCopy(int row0, int col0, int m, int n, int k, const float* a, const float* b)
      : n(n), aCol(threadIdx.x % 8), bRow(threadIdx.x / (kThreads / BK)), kLeft(k) {
    const int aRow = threadIdx.x / 8, bCol = threadIdx.x % (kThreads / BK) * kWidthB;
    // Beyond M the last row is read instead: its result is never stored.
#pragma unroll
    for (int i = 0; i < kPassesA; ++i) {
      const int r = row0 + aRow + i * kRowsA;
      aNext[i] = a + (long long)(kWhole ? r : min(r, m - 1)) * k + aCol;
    }
    bNext = b + (long long)bRow * n + col0 + bCol;
    colsLeft = n - (col0 + bCol);
    colsNow = bRow < kLeft ? colsLeft : 0;
    aTo = aCol * kStrideA + aRow;
    bTo = BK * kStrideA + bRow * kStrideB + bCol;
  }

  // Copy i of the kCopies that bring the next tile. Nothing is read beyond the last tile.
  __device__ void copy(int i, float* stage) const {
    if (i < kCopiesA) {
      const int pass = i % kPassesA, d = i / kPassesA * 8;
      float* to = stage + aTo + d * kStrideA + pass * kRowsA;
      if (kWhole) copyFloatAsyncIf(kLeft > 0, to, aNext[pass] + d);
      else copyFloatAsync(to, aNext[pass] + d, aCol + d < kLeft);
    } else {
      const int s = (i - kCopiesA) * kColsB;
      float* to = stage + bTo + s;
      if (kWhole) copyFourAsyncIf(kLeft > 0, to, bNext + s);
      else copyFloatAsync(to, bNext + s, s < colsNow);
    }
  }

  __device__ void advance() {
#pragma unroll
    for (int i = 0; i < kPassesA; ++i) aNext[i] += BK;
    bNext += (long long)BK * n;
    kLeft -= BK;
    colsNow = bRow < kLeft ? colsLeft : 0;
  }
};

template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 1)
gemmBlock128x256(int m, int n, int k, float alpha, const float* __restrict__ a,
                 const float* __restrict__ b, float beta, float* __restrict__ c) {
  extern __shared__ __align__(16) float stages[];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  TileCopy<kWhole> tiles(row0, col0, m, n, k, a, b);
  constexpr int kCopies = TileCopy<kWhole>::kCopies;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) tiles.copy(i, stages + s * kStageFloats);
    commitCopies();
    tiles.advance();
  }

  // Which elements a thread computes: groups of four rows by four columns, a whole set of lanes
  // apart. Lanes i and i + 1 share what they read of B, i and i + 2 of A: so a 128-bit load of a warp
  // is served in two passes rather than four.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsN * WM + (lane / (2 * kLanesN) * 2 + lane % 2) * 4;
  const int col = warp % kWarpsN * WN + lane / 2 % kLanesN * 4;

  float sum[TM][TN] = {};
  float aValues[2][TM], bValues[2][TN];  // of this step and of the next
  int readAt = row;                       // in the stage that is being computed
  const int fromAToB = BK * kStrideA + col - row;
  const auto readStep = [&](int values, int d) {
    const float* aFrom = stages + readAt + d * kStrideA;
    const float* bFrom = stages + readAt + fromAToB + d * kStrideB;
#pragma unroll
    for (int i = 0; i < TM; i += 4)
      *reinterpret_cast<float4*>(&aValues[values][i]) =
          *reinterpret_cast<const float4*>(aFrom + i * kLanesM);
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      *reinterpret_cast<float4*>(&bValues[values][j]) =
          *reinterpret_cast<const float4*>(bFrom + j * kLanesN);
  };

  awaitCopies<STAGES - 2>();
  __syncthreads();
  readStep(0, 0);

  int writeAt = (STAGES - 1) * kStageFloats;
  // Copies run STAGES - 1 tiles ahead, and so does what they have left of K.
  while (tiles.kLeft > -(STAGES - 1) * BK) {
#pragma unroll
    for (int d = 0; d < BK; ++d) {
      if (d == BK - 1) {  // all of this tile has been read: change over to the next one
        awaitCopies<STAGES - 2>();
        __syncthreads();
        readAt += kStageFloats;
        if (readAt >= STAGES * kStageFloats) readAt -= STAGES * kStageFloats;
      }
      readStep((d + 1) % 2, (d + 1) % BK);

      // The copies of the tile STAGES - 1 ahead, spread over the steps. Their stage is the one that
      // was read before the last barrier.
      constexpr int kPerStep = ceilDiv(kCopies, BK - 1);
#pragma unroll
      for (int i = d * kPerStep; i < (d + 1) * kPerStep && i < kCopies; ++i)
        tiles.copy(i, stages + writeAt);
      if (d == BK - 2) {
        commitCopies();
        tiles.advance();
        writeAt += kStageFloats;
        if (writeAt == STAGES * kStageFloats) writeAt = 0;
      }

      // With SNAKE back and forth over the columns: each FMA shares an operand with the one before, and
      // what was just read from the registers is at hand without another read.
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int step = 0; step < TN; ++step) {
          const int j = SNAKE && i % 2 ? TN - 1 - step : step;
          sum[i][j] += aValues[d % 2][i] * bValues[d % 2][j];
        }
    }
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i / 4 * 4 * kLanesM + i % 4;
    if (!kWhole && r >= m) break;  // a thread's rows ascend
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = col0 + col + j * kLanesN;
      if (kWhole) {
        klStore(reinterpret_cast<float4*>(&cRow[s]),
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), alpha, beta);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l)
          if (s + l < n) klStore(&cRow[s + l], sum[i][j + l], alpha, beta);
      }
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) {
  const bool small = sm == 86 || sm == 89 || sm >= 120;  // 99 KiB for a block, where an A100 has 163
  if (small && kSharedBytes > 99 * 1024)
    return "its stages exceed the 99 KiB of shared memory that a block has here: lower BK or STAGES";
  return klRequireF32(p);
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN));

  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool whole = m % BM == 0 && n % BN == 0 && k % BK == 0 &&
                     (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = whole ? gemmBlock128x256<true> : gemmBlock128x256<false>;

  // More than 48 KiB of shared memory is granted only to a kernel that requests it.
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  kernel<<<grid, kThreads, kSharedBytes, stream>>>(m, n, k, p->alpha, static_cast<const float*>(p->a),
                                                   static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
