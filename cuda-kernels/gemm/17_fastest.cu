// @rung    17_fastest
// @title   The fastest for each shape
// @after   16_split_k
// @idea    the previous rungs pay off at different sizes, so the launch weighs both block shapes and every split of K against each other and takes the one that should finish first
// @expect  fmaUtilization up
// @dtype   f32
// @requires sm_80

// Three kernels to choose from; 4096, 1024 and the like are m = n = k, on an H200 with 132 SMs:
// - Wide, 128 x 256 in tiles of 16 along K, from the rungs 14 to 16: first at 2048, whose 128 blocks
//   are one wave, and at 4096; K in slices makes up for the SMs that few or badly fitting tiles leave
//   idle, as at 1024.
// - Large, the same in tiles of 32: half the barriers. First at 8192, by 1 to 3%; at 2048 it loses a
//   tenth, and at 4096 it won or lost 4% from one session on the same GPU model to the next.
// - Square, 128 x 128 with two blocks on an SM, from rung 13: where the wider block would hang over
//   the edge of C, or its tiles fill the SMs badly, as at 512.
// planOf() estimates the time of each for every cut of K. The 64 x 64 block of sliced-K is not among
// them, though it is ahead where C is small: at 512 x 1024 x 512, and at ragged sizes up to 1023.

#include "gemm_common.cuh"

#include <algorithm>
#include <cmath>
#include <stdint.h>

// What a block computes: BM x BN in warps of WM x WN and threads of TM x TN, K in tiles of BK, of which
// STAGES are in shared memory; kBlocks of them fit an SM.
template <int BM_, int BN_, int WM_, int WN_, int TM_, int TN_, int BK_, int STAGES_,
          int kBlocks_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, WM = WM_, WN = WN_, TM = TM_, TN = TN_;
  static constexpr int BK = BK_, STAGES = STAGES_, kBlocks = kBlocks_;
  static constexpr int kLanesN = WN / TN, kLanesM = 32 / kLanesN;  // how a warp's lanes lie over its tile
  static constexpr int kWarpsN = BN / WN;
  static constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
  // A lies transposed in shared memory. Eight lanes copy eight neighbors of a row of A into eight rows
  // there, which the padding puts 4 banks apart, and the lanes' four rows of A fill the gaps.
  static constexpr int kStrideA = BM + 4, kStrideB = BN;
  static constexpr int kStageFloats = BK * (kStrideA + kStrideB);
  static constexpr int kSharedBytes = STAGES * kStageFloats * int(sizeof(float));
  static_assert(kLanesM * TM == WM, "the 32 lanes of a warp must cover its tile");
};
using Large = Shape<128, 256, 64, 64, 16, 8, 32, 2, 1>;
using Wide = Shape<128, 256, 64, 64, 16, 8, 16, 3, 1>;
using Square = Shape<128, 128, 64, 32, 8, 8, 8, 4, 2>;

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
template <typename S, bool kWhole>
struct TileCopy {
  static constexpr int BM = S::BM, BN = S::BN, BK = S::BK, kThreads = S::kThreads;
  static constexpr int kStrideA = S::kStrideA, kStrideB = S::kStrideB;
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

  __device__ TileCopy(int row0, int col0, int m, int n, int k, int kHere, const float* a,
                      const float* b)
      : n(n), aCol(threadIdx.x % 8), bRow(threadIdx.x / (kThreads / BK)), kLeft(kHere) {
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

template <typename S, bool kWhole>
__global__ void __launch_bounds__(S::kThreads, kWhole ? S::kBlocks : 1)
gemmFastest(int m, int n, int k, int kSlice, float alpha, const float* __restrict__ a,
            const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int BM = S::BM, BN = S::BN, BK = S::BK, WM = S::WM, WN = S::WN, TM = S::TM, TN = S::TN;
  constexpr int STAGES = S::STAGES, kLanesM = S::kLanesM, kLanesN = S::kLanesN, kWarpsN = S::kWarpsN;
  constexpr int kStrideA = S::kStrideA, kStrideB = S::kStrideB, kStageFloats = S::kStageFloats;
  constexpr int GROUP = 8;
  extern __shared__ __align__(16) float stages[];

  // Blocks start in index order. Walking down GROUP tile rows before moving on to the
  // next tile column, blocks that run concurrently cover a compact part of C.
  const int tilesM = ceilDiv(m, BM), tilesN = ceilDiv(n, BN);
  const int tilesInGroup = GROUP * tilesN;
  const int group = blockIdx.x / tilesInGroup, inGroup = blockIdx.x % tilesInGroup;
  const int rowsInGroup = min(GROUP, tilesM - group * GROUP);  // the last group can have fewer
  const int row0 = (group * GROUP + inGroup % rowsInGroup) * BM;
  const int col0 = inGroup / rowsInGroup * BN;

  // This block's slice of K.
  const int k0 = blockIdx.y * kSlice, kHere = min(kSlice, k - k0);

  TileCopy<S, kWhole> tiles(row0, col0, m, n, k, kHere, a + k0, b + (long long)k0 * n);
  constexpr int kCopies = TileCopy<S, kWhole>::kCopies;
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

      // Back and forth over the columns: each FMA shares an operand with the one before, and
      // what was just read from the registers is at hand without another read.
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int step = 0; step < TN; ++step) {
          const int j = i % 2 ? TN - 1 - step : step;
          sum[i][j] += aValues[d % 2][i] * bValues[d % 2][j];
        }
    }
  }

  c += (long long)blockIdx.y * m * n;  // the slices of the workspace, one matrix after another

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

__device__ inline float plus(float a, float b) { return a + b; }
__device__ inline float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// C = alpha * (sum of the partial results) + beta * C, for `count` elements of type T, float or float4.
template <typename T>
__global__ void __launch_bounds__(256)
addPartials(long long count, int splits, float alpha, const T* __restrict__ partials, float beta,
            T* __restrict__ c) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    T sum = partials[i];
#pragma unroll 4
    for (int s = 1; s < splits; ++s) sum = plus(sum, partials[s * count + i]);
    klStore(&c[i], sum, alpha, beta);
  }
}

// Which block shape, and how K is cut: `length` is a multiple of 16, and no slice is empty.
struct Plan {
  enum { kLarge, kWide, kSquare } shape;
  int slices, length;
};

// The plan that should end first, by an estimate in cycles of an SM:
// - a step along K takes a block's FMAs over 128 lanes, which a 128 x 256 block keeps fed a little
//   better than two of 128 x 128;
// - blocks run in waves of what fits the SMs at once, and the last wave costs as much as a full one,
//   except that a Square block alone on its SM takes a little over half the time of a pair;
// - a block begins and ends with some hundred cycles in which it computes little;
// - K in slices costs a second launch, and the partial results' way to L2 and back.
Plan planOf(const KlGemm* p) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  int device = 0, sms = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);

  Plan best = {};
  double least = INFINITY;
  const auto weigh = [&](auto shape, bool square) {
    using S = decltype(shape);
    const double tiles = double(ceilDiv(m, S::BM)) * ceilDiv(n, S::BN);
    const double stepCycles = S::BM * S::BN / 128.0 / (square ? 0.77 : 0.80);
    const double atOnce = double(sms) * S::kBlocks, alone = square ? 1.2 : 1;
    int last = 0;  // the length last weighed
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

  // Large is Wide with fewer barriers and slower starts: ahead from many waves of blocks on.
  const bool manyWaves = (long long)ceilDiv(m, Wide::BM) * ceilDiv(n, Wide::BN) >= 8LL * sms;
  if (best.shape == Plan::kWide && best.slices == 1 && manyWaves) best.shape = Plan::kLarge;
  return best;
}

template <typename S>
cudaError_t launch(const KlGemm* p, const Plan& plan, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const bool partial = plan.slices > 1;
  float* to = partial ? static_cast<float*>(p->workspace) : p->c;

  // One dimension of tiles: however long and thin, a C that fits into memory has under 2^31 of them.
  const dim3 grid(ceilDiv(m, S::BM) * ceilDiv(n, S::BN), plan.slices);

  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned = (address(p->a) | address(p->b) | address(p->c) | address(to)) % 16 == 0;
  const bool whole = m % S::BM == 0 && n % S::BN == 0 && k % S::BK == 0 && aligned;
  const auto kernel = whole ? gemmFastest<S, true> : gemmFastest<S, false>;

  // More than 48 KiB of shared memory is granted only to a kernel that requests it.
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kSharedBytes);
  if (error != cudaSuccess) return error;
  kernel<<<grid, S::kThreads, S::kSharedBytes, stream>>>(
      m, n, k, plan.length, partial ? 1.0f : p->alpha, static_cast<const float*>(p->a),
      static_cast<const float*>(p->b), partial ? 0.0f : p->beta, to);
  if (!partial) return cudaGetLastError();

  const long long elements = p->m * p->n;
  const auto blocks = [](long long count) {
    return unsigned(std::min<long long>((count + 255) / 256, 1 << 20));
  };
  if (aligned && elements % 4 == 0) {
    addPartials<<<blocks(elements / 4), 256, 0, stream>>>(
        elements / 4, plan.slices, p->alpha, reinterpret_cast<const float4*>(to), p->beta,
        reinterpret_cast<float4*>(p->c));
  } else {
    addPartials<<<blocks(elements), 256, 0, stream>>>(elements, plan.slices, p->alpha,
                                                      static_cast<const float*>(to), p->beta, p->c);
  }
  return cudaGetLastError();
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" size_t kl_workspace_bytes(const KlGemm* p) {
  const int slices = planOf(p).slices;
  return slices == 1 ? 0 : size_t(slices) * p->m * p->n * sizeof(float);
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const Plan plan = planOf(p);
  switch (plan.shape) {
    case Plan::kLarge: return launch<Large>(p, plan, stream);
    case Plan::kWide: return launch<Wide>(p, plan, stream);
    default: return launch<Square>(p, plan, stream);
  }
}
