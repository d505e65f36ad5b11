// A thread's tile of C in registers: loads of four operands from shared memory, the products, and the store. Rows and
// columns come in groups of four adjacent elements, a stride apart. With a stride of 4, all groups are adjacent.
#pragma once

#include "gemm_launch.cuh"

__device__ inline float4 klFour(const float* from) { return *reinterpret_cast<const float4*>(from); }

// Returns four adjacent floats of a row of `length`, from index i, with zeros past the end. With kAligned, the row is
// 16-byte aligned and its length is a multiple of 4, so all four are inside or all are outside.
template <bool kAligned>
__device__ inline float4 klFourWithin(const float* row, int i, int length) {
  if (kAligned) return i < length ? klFour(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

// Returns four adjacent floats of a row with `left` remaining floats, with zeros past the end.
__device__ inline float4 klFourLeft(const float* from, int left) {
  return make_float4(left > 0 ? from[0] : 0.0f, left > 1 ? from[1] : 0.0f, left > 2 ? from[2] : 0.0f,
                     left > 3 ? from[3] : 0.0f);
}

// Reads groups of four floats from shared memory, `stride` floats apart.
template <int kCount>
__device__ inline void klReadFours(float (&values)[kCount], const float* from, int stride) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4)
    *reinterpret_cast<float4*>(&values[i]) = klFour(from + i / 4 * stride);
}

// Computes sum += a bᵀ. kSnake alternates the column direction, so that each FMA shares an operand with the previous
// FMA, which saves a register read.
template <bool kSnake = false, int kRows, int kCols>
__device__ inline void klOuterProduct(float (&sum)[kRows][kCols], const float (&a)[kRows],
                                      const float (&b)[kCols]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int step = 0; step < kCols; ++step) {
      const int j = kSnake && i % 2 ? kCols - 1 - step : step;
      sum[i][j] += a[i] * b[j];
    }
}

// Stores the sums to C from row and col. kFours stores four columns at a time; kChecked skips elements outside C.
template <bool kFours, bool kChecked, int kRows, int kCols>
__device__ inline void klStoreTile(float* c, int m, int n, int row, int rowStride, int col, int colStride,
                                   const float (&sum)[kRows][kCols], float alpha, float beta) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int r = row + i / 4 * rowStride + i % 4;
    if (kChecked && r >= m) break;  // all later rows are outside C, too
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < kCols; j += 4) {
      const int s = col + j / 4 * colStride;
      if (kFours) {
        if (!kChecked || s < n)
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
