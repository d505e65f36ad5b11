// Byte tiles for mma.sync: 128 rows of A and of B, 64 bytes along K, for four warps with 64 x 64 sums each.
#pragma once

#include "narrow_common.cuh"

constexpr int kMmaTile = 128, kMmaDepth = 64, kMmaThreads = 128;
// Row length of the tile, in words. Four words of padding put the eight rows of a fragment in different banks.
constexpr int kMmaStride = kMmaDepth / 4 + 4;

// Copies a tile, with zeros outside the matrix. Copies 16 bytes at a time if the row length is a multiple of 16.
__device__ inline void klCopyTile(uint32_t (&tile)[kMmaTile][kMmaStride], const signed char* from, int row0, int rows,
                                  int depth, int k) {
  const int col = threadIdx.x % 4 * 16;
  for (int row = threadIdx.x / 4; row < kMmaTile; row += kMmaThreads / 4) {
    const signed char* line = from + (long long)(row0 + row) * k;
    uint4 part = make_uint4(0, 0, 0, 0);
    if (row0 + row < rows && depth + col < k) {
      const int at = (depth + col) / 4;
      if (k % 16 == 0) part = *reinterpret_cast<const uint4*>(line + depth + col);
      else part = make_uint4(klWord(line, at, k), klWord(line, at + 1, k), klWord(line, at + 2, k), klWord(line, at + 3, k));
    }
    *reinterpret_cast<uint4*>(&tile[row][col / 4]) = part;
  }
}

// Stores two adjacent elements of a row, together if rows have an even number of elements.
__device__ inline void klStorePair(signed char* to, char2 pair, int colsLeft, bool even) {
  if (even && colsLeft >= 2) {
    *reinterpret_cast<char2*>(to) = pair;
    return;
  }
  if (colsLeft >= 1) to[0] = pair.x;
  if (colsLeft >= 2) to[1] = pair.y;
}

// Computes d += a * b: 16 x 32 by 32 x 8 bytes. A lane holds elements of A in rows lane / 4 and lane / 4 + 8, and
// elements of B in column lane / 4.
__device__ inline void klMma(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
