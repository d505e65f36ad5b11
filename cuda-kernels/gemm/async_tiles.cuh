// Tiles of A and B that cp.async copies into stages of shared memory.
#pragma once

#include "thread_tile.cuh"

inline const char* klRequireStages(const KlGemm* p, int sm, int sharedBytes) {
  const bool small = sm == 86 || sm == 89 || sm >= 120;  // 99 KiB for a block, where an A100 has 163
  if (small && sharedBytes > 99 * 1024)
    return "its stages exceed the 99 KiB of shared memory that a block has here: lower BK or STAGES";
  return klRequireF32(p);
}

// Copies that proceed while the threads compute. If `valid` is false, zeros are written and nothing
// is read.
__device__ inline void copyFloatAsync(float* to, const float* from, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(klSharedAddress(to)), "l"(from), "r"(valid ? 4 : 0));
}

// These do nothing if `wanted` is 0. They are predicated within the PTX, because a branch would
// cut the unrolled loop into pieces that the compiler cannot schedule across.
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

// What a thread copies of one tile after another along K, of `kHere` columns of A and rows of B. A lies transposed
// in shared memory: eight lanes copy eight neighbors of a row of A into eight rows there, which the padding puts 4
// banks apart, and the lanes' four rows of A fill the gaps.
// With kWhole m, n and k are multiples of the tile and every row is 16-byte aligned: B goes by copies
// of 16 bytes. Otherwise all copies are of 4 bytes, and zeros past the end of the matrix.
template <int kBM, int kBN, int kBK, int kThreads, bool kWhole>
struct AsyncTiles {
  static constexpr int kStrideA = kBM + 4, kStrideB = kBN;
  static constexpr int kStageFloats = kBK * (kStrideA + kStrideB);
  static constexpr int kWidthB = kWhole ? 4 : 1;
  static constexpr int kRowsA = kThreads / 8;                // rows of the A tile in one pass
  static constexpr int kColsB = kThreads / kBK * kWidthB;     // columns of the B tile in one pass
  static constexpr int kPassesA = kBM / kRowsA, kCopiesA = kPassesA * (kBK / 8);
  static constexpr int kPassesB = kBN / kColsB;
  static constexpr int kCopies = kCopiesA + kPassesB;
  static_assert(kBM % kRowsA == 0 && kThreads % kBK == 0 && kBN % kColsB == 0,
                "the threads of a block must cover both tiles in whole passes");

  const float* aNext[kPassesA];
  const float* bNext;
  int n;
  int aTo, bTo;    // where in a stage the first element of A and of B goes
  int aCol, bRow;  // for the checks at the matrix's end
  int colsLeft, colsNow, kLeft;  // colsNow is 0 where the row of B lies beyond K

  __device__ AsyncTiles(int row0, int col0, int m, int n, int k, int kHere, const float* a,
                        const float* b)
      : n(n), aCol(threadIdx.x % 8), bRow(threadIdx.x / (kThreads / kBK)), kLeft(kHere) {
    const int aRow = threadIdx.x / 8, bCol = threadIdx.x % (kThreads / kBK) * kWidthB;
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
    bTo = kBK * kStrideA + bRow * kStrideB + bCol;
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

  // All copies of the next tile, as one group.
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
