// Tiles of A and B that cp.async copies into stages of shared memory.
#pragma once

#include "thread_tile.cuh"

inline const char* klRequireStages(const KlGemm* p, int sm, int sharedBytes) {
  const bool small = sm == 86 || sm == 89 || sm >= 120;  // blocks have up to 99 KiB of shared memory (A100: 163)
  if (small && sharedBytes > 99 * 1024)
    return "its stages exceed the 99 KiB of shared memory that a block has here: lower BK or STAGES";
  return klRequireF32(p);
}

// Starts copying one float asynchronously. If `valid` is false, writes zero and reads
// nothing.
__device__ inline void copyFloatAsync(float* to, const float* from, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(klSharedAddress(to)), "l"(from), "r"(valid ? 4 : 0));
}

// Copies one float if `wanted` is not 0. The PTX code uses predication, because a branch would split the unrolled loop
// into parts that the compiler cannot schedule across.
__device__ inline void copyFloatAsyncIf(int wanted, float* to, const float* from) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n"
               "@p cp.async.ca.shared.global [%0], [%1], 4; }"
               :: "r"(klSharedAddress(to)), "l"(from), "r"(wanted));
}
__device__ inline void copyFourAsyncIf(int wanted, float* to, const float* from) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0;\n"
               "@p cp.async.cg.shared.global [%0], [%1], 16; }"
               :: "r"(klSharedAddress(to)), "l"(from), "r"(wanted));
}

__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;"); }

// Waits until all but the newest kPending groups of this thread's copies have arrived.
template <int kPending>
__device__ inline void awaitCopies() {
  asm volatile("cp.async.wait_group %0;" :: "n"(kPending) : "memory");
}

// A thread's copies, tile by tile along K, from `kHere` columns of A and rows of B: all k of them, or a slice of K in
// split-K. A is transposed in shared memory. Eight lanes copy eight adjacent elements of a row of A into eight rows of
// the transposed tile. The padding shifts consecutive rows of the transposed tile by 4 banks. A warp copies four rows
// of A, whose elements fill these 4 banks. With kWhole, m, n and k are multiples of the tile sizes. Every row is then
// 16-byte aligned, so B is copied in units of 16 bytes. Otherwise, all copies are 4 bytes wide and write zeros outside
// the matrix.
template <int kBM, int kBN, int kBK, int kThreads, bool kWhole>
struct AsyncTiles {
  static constexpr int kStrideA = kBM + 4, kStrideB = kBN;
  static constexpr int kStageFloats = kBK * (kStrideA + kStrideB);
  static constexpr int kWidthB = kWhole ? 4 : 1;
  static constexpr int kRowsA = kThreads / 8;                // rows of the A tile per pass
  static constexpr int kColsB = kThreads / kBK * kWidthB;     // columns of the B tile per pass
  static constexpr int kPassesA = kBM / kRowsA, kCopiesA = kPassesA * (kBK / 8);
  static constexpr int kPassesB = kBN / kColsB;
  static constexpr int kCopies = kCopiesA + kPassesB;
  static_assert(kBM % kRowsA == 0 && kThreads % kBK == 0 && kBN % kColsB == 0,
                "the threads of a block must cover both tiles in whole passes");

  const float* aNext[kPassesA];
  const float* bNext;
  int n;
  int aTo, bTo;    // offsets of the first elements of A and B in a stage
  int aCol, bRow;  // for bounds checks at the matrix edges
  // kLeft is the part of kHere that is not copied yet. colsLeft is the number of columns of B from the thread's first
  // column. colsNow is the same number, or 0 if the thread's row of B is past K.
  int colsLeft, colsNow, kLeft;

  __device__ AsyncTiles(int row0, int col0, int m, int n, int k, int kHere, const float* a,
                        const float* b)
      : n(n), aCol(threadIdx.x % 8), bRow(threadIdx.x / (kThreads / kBK)), kLeft(kHere) {
    const int aRow = threadIdx.x / 8, bCol = threadIdx.x % (kThreads / kBK) * kWidthB;
    // Past M, the last row of A is read instead. Out-of-range results are never stored.
#pragma unroll
    for (int i = 0; i < kPassesA; ++i) {
      const int r = row0 + aRow + i * kRowsA;
      aNext[i] = a + (long long)(kWhole ? r : min(r, m - 1)) * k + aCol;
    }
    bNext = b + (long long)bRow * n + col0 + bCol;
    colsLeft = n - (col0 + bCol);
    colsNow = bRow < kLeft ? colsLeft : 0;
    aTo = aCol * kStrideA + aRow;
    bTo = kBK * kStrideA + bRow * kStrideB + bCol;
  }

  // Starts copy i of kCopies for the next tile. Reads nothing past the last tile.
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

  // Starts all copies of the next tile as one group.
  __device__ void copyAll(float* stage) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) copy(i, stage);
    commitCopies();
    advance();
  }

  __device__ void advance() {
#pragma unroll
    for (int i = 0; i < kPassesA; ++i) aNext[i] += kBK;
    bNext += (long long)kBK * n;
    kLeft -= kBK;
    colsNow = bRow < kLeft ? colsLeft : 0;
  }
};
